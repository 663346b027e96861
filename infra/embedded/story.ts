import { randomUUID } from 'node:crypto'
import { openAsBlob, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'
import { createKey, revokeKey } from '../../db/api-keys.ts'
import { openDatabase } from '../../db/connect.ts'
import { type RecordedEvent, readJobEvents } from '../../db/job-events.ts'
import type { JobEvent } from '../../db/schema.ts'
import { systemRandom } from '../system-random.ts'

export interface StoryToTell {
  apiUrl: string
  databaseUrl: string
  /** Whether the API asks for a key; one is made for the story then, and revoked at its end. */
  asksForKey: boolean
  /** How long the job may take, in milliseconds. */
  patienceMs: number
  /** Prints a line. */
  say: (line: string) => void
}

const SAMPLE = path.join(import.meta.dirname, 'sample.jpg')

/**
 * Sends the sample image through the service and tells, as they happen, the transitions that the job's own record
 * holds.
 *
 * @returns whether the job ended in SUCCEEDED and its thumbnail can be had
 */
export async function tellStory(story: StoryToTell): Promise<boolean> {
  if (!story.asksForKey) return tell(story, {})
  const db = openDatabase(story.databaseUrl, { max: 1, callMs: 5_000, application: 'img42-story' })
  try {
    const { key, keyId } = await createKey(db, { tenant: 'sample', name: 'npm start' }, systemRandom)
    return await tell(story, { authorization: `Bearer ${key}` }).finally(() => revokeKey(db, keyId))
  } finally {
    await db.destroy()
  }
}

async function tell(
  { apiUrl, databaseUrl, patienceMs, say }: StoryToTell,
  authorization: Record<string, string>,
): Promise<boolean> {
  const signal = AbortSignal.timeout(patienceMs)
  const size = `${Math.round(statSync(SAMPLE).size / 1_000)} kB`
  say(`POST ${apiUrl}/v1/images  (${shown(SAMPLE)}, ${size})`)
  const answer = await fetch(`${apiUrl}/v1/images`, {
    method: 'POST',
    body: await openAsBlob(SAMPLE, { type: 'image/jpeg' }),
    headers: { 'idempotency-key': `sample-${randomUUID()}`, ...authorization },
    signal,
  })
  const location = answer.headers.get('location')
  if (answer.status !== 202 || !location) {
    say(`→ ${answer.status}  ${await answer.text()}`)
    return false
  }
  say(`→ 202 Accepted, Location: ${location}`)
  say('')

  const jobId = path.posix.basename(location)
  const thumbnailUrl = `${apiUrl}/v1/images/${jobId}/thumbnail`
  const last = await followJob(databaseUrl, jobId, signal, (event, sinceMs) => {
    const time = `+${(sinceMs / 1_000).toFixed(3)} s`
    say(`  ${dim(time.padStart(10))}  ${bold(event.event.padEnd(10))}  ${meaning(event, thumbnailUrl)}`)
  })
  say('')
  if (last !== 'succeeded') {
    if (last === null) say(`The job did not end within ${patienceMs / 1_000} s.`)
    return false
  }
  const thumbnail = await fetch(thumbnailUrl, {
    headers: authorization,
    signal: AbortSignal.timeout(10_000),
  })
  const bytes = (await thumbnail.arrayBuffer()).byteLength
  if (!thumbnail.ok) {
    say(`GET ${thumbnailUrl} → ${thumbnail.status}`)
    return false
  }
  say(`GET ${thumbnailUrl}`)
  say(`→ 200, ${thumbnail.headers.get('content-type')}, ${(bytes / 1_000).toFixed(1)} kB`)
  say('')
  if (authorization.authorization) {
    say('Do it yourself, with a key of your own:  npm run img42 -- keys create --tenant my-tenant')
    return true
  }
  say('Do it yourself:')
  say('')
  say(`  curl -i --data-binary @${shown(SAMPLE)} -H 'Content-Type: image/jpeg' ${apiUrl}/v1/images`)
  say(`  curl -i ${apiUrl}${location}`)
  say(`  curl -o thumbnail.jpg ${thumbnailUrl}`)
  return true
}

/** Calls `tell` once for each event, and resolves with the one that ended the job; null once `signal` aborts. */
async function followJob(
  databaseUrl: string,
  jobId: string,
  signal: AbortSignal,
  tell: (event: RecordedEvent, sinceMs: number) => void,
): Promise<'succeeded' | 'failed' | null> {
  const db = openDatabase(databaseUrl, { max: 1, callMs: 5_000, application: 'img42-story' })
  const told = new Set<string>()
  try {
    while (!signal.aborted) {
      const events = await readJobEvents(db, jobId)
      const start = events[0]?.at.getTime() ?? 0
      for (const event of inOrderOfCause(events)) {
        if (told.has(event.eventId)) continue
        told.add(event.eventId)
        tell(event, event.at.getTime() - start)
        if (event.event === 'succeeded' || event.event === 'failed') return event.event
      }
      await delay(POLL_MS)
    }
    return null
  } finally {
    await db.destroy()
  }
}

const POLL_MS = 25

/**
 * A worker may claim a job before the relay has written down that the queue took the message. The story waits for the
 * publication, and tells it first.
 */
function inOrderOfCause(events: RecordedEvent[]): RecordedEvent[] {
  const published = events.find(({ event }) => event === 'published')
  if (!published) return events.filter(({ event }) => event === 'accepted')
  const [accepted, ...others] = events.filter((event) => event !== published)
  return accepted ? [accepted, published, ...others] : [published]
}

function meaning({ event, attempts, fence, detail }: RecordedEvent, thumbnailUrl: string): string {
  if (event === 'claimed') return `a worker holds it (attempt ${attempts}, fence ${fence})`
  if (event === 'succeeded') return thumbnailUrl
  if (event === 'failed') return `${detail?.code}: ${detail?.message}`
  return SENTENCES[event] ?? ''
}

const SENTENCES: Partial<Record<JobEvent, string>> = {
  accepted: 'the original is stored; job and outbox row are committed',
  published: 'the relay has put a message into the queue',
  put_back: 'the attempt ended without a verdict; another follows',
  rescued: 'its worker is gone; it waits for another',
}

/** As one would type it from here. */
function shown(file: string): string {
  return path.relative(process.cwd(), file)
}

function dim(text: string): string {
  return styleText('dim', text)
}

function bold(text: string): string {
  return styleText('bold', text)
}
