import { type Span, SpanKind } from '@opentelemetry/api'
import type { OutgoingMessage, Queue, ReceivedMessage, SendOutcome } from '../../core/ports/queue.ts'
import { failSpan, inSpan, startSpan, traceparentOf } from './spans.ts'
import { tracePort } from './traced-port.ts'

const MESSAGING = { 'messaging.destination.name': 'jobs' }

/**
 * The same queue, each of whose messages is sent within the trace that it carries: one `publish jobs` a message, however
 * many go in one call. The message goes on with the trace context of that span, so that its deliveries hang below it.
 */
export function traceQueue(queue: Queue): Queue {
  return {
    ...tracePort('queue', queue),
    async send(messages, signal) {
      const sending = messages.map(begin)
      try {
        const outcomes = await queue.send(
          sending.map(({ message }) => message),
          signal,
        )
        for (const [i, { span }] of sending.entries()) settle(span, outcomes[i])
        return outcomes
      } catch (error) {
        for (const { span } of sending) if (span) failSpan(span, error)
        throw error
      } finally {
        for (const { span } of sending) span?.end()
      }
    },
  }
}

/** Works on a message within a span of the trace that it carries: `process jobs`. One without a trace has its own. */
export function inDelivery<T>(
  { attributes, messageId, receiveCount }: ReceivedMessage,
  work: () => Promise<T>,
): Promise<T> {
  const options = {
    kind: SpanKind.CONSUMER,
    parent: attributes.traceparent ?? null,
    attributes: {
      ...MESSAGING,
      'messaging.operation.type': 'process',
      'messaging.message.id': messageId,
      'img42.receive_count': receiveCount,
    },
  }
  return inSpan('process jobs', options, work)
}

function begin(message: OutgoingMessage): { message: OutgoingMessage; span: Span | null } {
  const { traceparent } = message.attributes
  if (!traceparent) return { message, span: null }
  const span = startSpan('publish jobs', {
    ...{ kind: SpanKind.PRODUCER, parent: traceparent },
    attributes: { ...MESSAGING, 'messaging.operation.type': 'send' },
  })
  const attributes = { ...message.attributes, traceparent: traceparentOf(span.spanContext()) }
  return { message: { ...message, attributes }, span }
}

function settle(span: Span | null, outcome: SendOutcome | undefined): void {
  if (!span) return
  if (outcome?.ok) span.setAttribute('messaging.message.id', outcome.messageId)
  else failSpan(span, new Error(outcome?.code ?? 'no outcome'))
}
