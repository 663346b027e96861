import { z } from 'zod'
import type { OutgoingMessage } from './ports/queue.ts'

/**
 * `ImageProcessingRequested`: that a job may be worth looking at. Never proof of anything: the job's row is the truth.
 * The generation travels beside the body, as the attribute `generation`, so that a dead letter that an operator's
 * retry has outlived does not fail the job's new generation; so does the job's trace, as `traceparent`.
 */
export interface ImageProcessingRequested {
  jobId: string
  objectKey: string
  generation: number
}

export const SCHEMA_VERSION = 1

export function encodeJobMessage({
  jobId,
  objectKey,
  generation,
  traceparent = null,
}: ImageProcessingRequested & { traceparent?: string | null }): OutgoingMessage {
  return {
    body: JSON.stringify({ job_id: jobId, object_key: objectKey, schema_version: SCHEMA_VERSION }),
    attributes: { generation: String(generation), ...(traceparent && { traceparent }) },
  }
}

/** The message, or in a few words why this version of the service cannot read it. */
export function decodeJobMessage(
  message: OutgoingMessage,
): { ok: true; message: ImageProcessingRequested } | { ok: false; reason: string } {
  let json: unknown
  try {
    json = JSON.parse(message.body)
  } catch {
    return { ok: false, reason: 'the body is not JSON' }
  }
  const version = VERSION.safeParse(json)
  if (!version.success) return { ok: false, reason: 'the body has no schema_version' }
  if (version.data.schema_version !== SCHEMA_VERSION) {
    return { ok: false, reason: `schema_version ${version.data.schema_version} is unknown here` }
  }
  const body = BODY.safeParse(json)
  if (!body.success)
    return { ok: false, reason: `the body's ${body.error.issues[0]?.path.join('.')} is wrong` }
  const generation = GENERATION.safeParse(message.attributes.generation)
  if (!generation.success)
    return { ok: false, reason: 'the attribute generation is missing or no whole number' }
  const { job_id: jobId, object_key: objectKey } = body.data
  return { ok: true, message: { jobId, objectKey, generation: generation.data } }
}

const VERSION = z.object({ schema_version: z.int() })
const BODY = z.object({ job_id: z.string().min(1), object_key: z.string().min(1) })
const GENERATION = z.coerce.number().int().min(1)
