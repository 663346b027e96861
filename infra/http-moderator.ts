import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { z } from 'zod'
import { DependencyError, WorkError } from '../core/errors.ts'
import type { Moderation } from '../core/job.ts'
import type { Moderator, PictureToJudge } from '../core/ports/moderator.ts'
import { printable } from '../core/printable.ts'

/** What an answer may be long: a verdict and its labels. */
const MAX_ANSWER_BYTES = 65_536

/** What a moderator says of the picture it was sent, not of itself: every other picture may fare better. */
const OF_THE_PICTURE = [400, 413, 415, 422]

const ANSWER = z.object({
  verdict: z.enum(['approved', 'rejected']),
  labels: z.array(z.string().max(100).transform(printable)).max(50).default([]),
})

/** What a probe shows: 8 × 8 grey pixels, as PNG. */
const PROBE: PictureToJudge = {
  jobId: 'probe',
  contentType: 'image/png',
  body: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAADklEQVR42mNogAIGyhgAgIQgARDoahcAAAAASUVORK5CYII=',
    'base64',
  ),
}

/** A moderator behind HTTP, as `docs/moderation.md` describes it. No redirect is followed. */
export function createHttpModerator(url: string): Moderator {
  async function judge(
    { jobId, contentType, body }: PictureToJudge,
    signal: AbortSignal,
  ): Promise<Moderation> {
    const { status, text } = await ask(
      url,
      { 'Content-Type': contentType, 'Idempotency-Key': jobId },
      body,
      signal,
    )
    if (status === 200) return verdictIn(text)
    if (OF_THE_PICTURE.includes(status)) {
      throw new WorkError('moderation_failed', `the moderator answered ${status} to this picture`)
    }
    throw failing(`answered ${status}`)
  }

  return {
    judge,
    async ping(signal) {
      try {
        // Not a HEAD, which a server answers whose model is down.
        await judge(PROBE, signal)
      } catch (error) {
        if (!(error instanceof WorkError)) throw error
      }
    },
  }
}

function verdictIn(text: string): Moderation {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw failing('answered 200 with what is no JSON')
  }
  const answer = ANSWER.safeParse(json)
  if (answer.success) return answer.data
  const where = answer.error.issues[0]?.path.join('.')
  throw failing(`answered 200 with JSON whose ${where || 'form'} is wrong`)
}

/** Not `fetch`, which copies the body it sends and follows redirects; the connection is not kept, so it is never stale. */
function ask(
  url: string,
  type: Record<string, string>,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      if (signal.aborted) reject(signal.reason)
      // Clients see the sentence: where the moderator stands is the cause's, for the log.
      else reject(error instanceof DependencyError ? error : failing('could not be asked', error))
    }
    const headers = { ...type, 'Content-Length': body.byteLength, Accept: 'application/json' }
    const sending = request(url, { method: 'POST', agent: false, signal, headers }, (answer) => {
      read(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), fail)
    })
    sending.on('error', fail)
    sending.end(body)
  })
}

async function read(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.length
    // Leaving the loop destroys the connection, and with it the rest.
    if (bytes > MAX_ANSWER_BYTES) throw failing(`answered more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function failing(what: string, cause?: Error): DependencyError {
  return new DependencyError('moderation', `the moderator ${what}`, { cause })
}
