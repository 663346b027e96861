import { ConnectionError, problemOf } from './errors.ts'
import type { Surroundings } from './send.ts'
import type { JobEvent } from './types.ts'

export interface FollowedEvent extends JobEvent {
  /** To continue after it: `lastEventId`. */
  id: string
}

export interface EventOptions {
  signal?: AbortSignal
  /** Begin after this event. Defaults to the job's first. */
  lastEventId?: string
}

/** Streams that end without a single event, one after the other, before it is given up. */
const EMPTY_STREAMS = 7

/** Each transition of a job once, as it happens, until the job is done; a stream that breaks off is taken up again. */
export async function* events(
  { fetch, sleep, random }: Surroundings,
  url: string,
  headers: Record<string, string>,
  { signal, lastEventId }: EventOptions = {},
): AsyncGenerator<FollowedEvent, void, void> {
  let last = lastEventId
  let failure: unknown
  for (let empty = 0; empty < EMPTY_STREAMS; empty++) {
    signal?.throwIfAborted()
    if (empty > 0) await sleep(Math.min(20_000, 500 * 2 ** (empty - 1)) * (0.5 + random() / 2), signal)
    try {
      const response = await fetch(url, {
        headers: {
          ...headers,
          Accept: 'text/event-stream',
          ...(last !== undefined && { 'Last-Event-ID': last }),
        },
        ...(signal && { signal }),
      })
      if (response.status === 204) return
      if (!response.ok) throw await problemOf(response)
      for await (const event of readEvents(response)) {
        empty = -1
        last = event.id
        yield event
        if (event.done) return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof Error && 'retryable' in error && !error.retryable) throw error
      failure = error
    }
  }
  throw failure instanceof Error && 'retryable' in failure ? failure : new ConnectionError(failure)
}

/** The messages of a stream that have an id. A message that was not ended by an empty line never came. */
async function* readEvents(response: Response): AsyncGenerator<FollowedEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      text += value
      const messages = text.replaceAll('\r\n', '\n').split('\n\n')
      text = messages.pop()!
      for (const message of messages) {
        const id = field(message, 'id')
        const data = field(message, 'data')
        if (id && data) yield { ...(JSON.parse(data) as JobEvent), id }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function field(message: string, name: string): string {
  const lines = message.split('\n').filter((line) => line.startsWith(`${name}:`))
  return lines.map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n')
}
