import type { TenantClient } from './tenant-client.ts'

export interface StreamedEvent {
  id: string
  data: {
    job_id: string
    event: string
    status: string
    done: boolean
    at: string
    attempts: number
    error?: object
  }
}

/** The events of a job as they come, until the stream ends. */
export async function* followEvents(
  client: TenantClient,
  jobId: string,
  { lastId, signal }: { lastId?: string; signal?: AbortSignal } = {},
): AsyncGenerator<StreamedEvent> {
  const response = await client.fetch(`/v1/jobs/${jobId}/events`, {
    headers: lastId === undefined ? {} : { 'last-event-id': lastId },
    ...(signal && { signal }),
  })
  if (response.status === 204) return
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = parseEvent(text.slice(0, end))
      text = text.slice(end + 2)
      if (event) yield event
    }
  }
}

export async function allOf(events: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> {
  const all: StreamedEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

function parseEvent(block: string): StreamedEvent | null {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)))
  return fields.data ? { id: fields.id, data: JSON.parse(fields.data) } : null
}
