import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'

// Without tracing (see start.ts) OpenTelemetry's API does nothing here, and nothing is active.

const tracer = trace.getTracer('img42')

export interface SpanOptions {
  kind?: SpanKind
  attributes?: Attributes
  /** A `traceparent` (W3C Trace Context) that it goes on from, in place of what is active; null for a trace of its own. */
  parent?: string | null
}

/** Starts a span that somebody else ends; whoever can, uses {@link inSpan}. */
export function startSpan(
  name: string,
  { kind = SpanKind.INTERNAL, attributes = {}, parent }: SpanOptions,
): Span {
  return tracer.startSpan(
    name,
    { kind, attributes },
    parent === undefined ? context.active() : contextOf(parent),
  )
}

/** Runs `work` within a span, which ends with it; what `work` throws is the span's failure, by its message's first line. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = startSpan(name, options)
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span))
  } catch (error) {
    failSpan(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** Says of a span that what it stands for failed. Of an error nothing but its class and sentence: others hold requests. */
export function failSpan(span: Span, error: unknown): void {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  span.setAttribute('error.type', name)
  span.setStatus({ code: SpanStatusCode.ERROR, message: message.split('\n', 1)[0] ?? '' })
}

/** What is active as a `traceparent`, to go on from in another process; null where nothing is. */
export function activeTraceparent(): string | null {
  const active = trace.getActiveSpan()?.spanContext()
  return active && isSpanContextValid(active) ? traceparentOf(active) : null
}

export function traceparentOf({
  traceId,
  spanId,
  traceFlags,
}: {
  traceId: string
  spanId: string
  traceFlags: number
}): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The trace that a line of the log belongs to; undefined where there is none. */
export function activeTraceId(): string | undefined {
  return trace.getActiveSpan()?.spanContext().traceId
}

/** Version 00, as W3C Trace Context writes it; what is no such thing begins a trace of its own. */
function contextOf(traceparent: string | null) {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? []
  const root = trace.deleteSpan(context.active())
  if (!traceId || !spanId || !flags) return root
  const spanContext = {
    ...{ traceId, spanId, isRemote: true },
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
  }
  return isSpanContextValid(spanContext) ? trace.setSpanContext(root, spanContext) : root
}
