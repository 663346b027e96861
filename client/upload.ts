import type { Send } from './send.ts'
import type { AcceptedJob } from './types.ts'

/** An image that can be read more than once, as a second try needs it. In Node, `fs.openAsBlob` makes one of a file. */
export type ImageData = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>

export interface Progress {
  sentBytes: number
  totalBytes: number
}

export interface UploadOptions {
  /**
   * The same for each upload that is to be one and the same job, also after a restart of the program. Defaults to a new
   * one, which every try of this call has.
   */
  idempotencyKey?: string
  /** What is to be made of the image. Defaults to the service's own preset. */
  preset?: string
  /** In seconds: a job not begun by then fails as `expired`. */
  expiresIn?: number
  /** Told when the job has ended, see `verifyWebhook`. */
  callbackUrl?: string
  /** Of the image, such as `image/png`. Defaults to the Blob's, or to what the bytes turn out to be. */
  contentType?: string
  /** In seconds, 60 at most: the service answers as soon as the job is done, or after that time. Defaults to 0. */
  wait?: number
  signal?: AbortSignal
  /** Told how much is sent; a second try begins at 0 again. */
  onProgress?: (progress: Progress) => void
}

/** How long one try may take. */
const TRY_MS = 600_000
/** How much is sent between two words about it. */
const CHUNK_BYTES = 65_536

/** Sends an image until its job is accepted. Send the same image with the same key again whenever in doubt. */
export function upload(send: Send, image: ImageData, options: UploadOptions = {}): Promise<AcceptedJob> {
  const { preset, expiresIn, callbackUrl, wait, signal, onProgress } = options
  const blob = image instanceof Blob ? image : new Blob([image])
  const query = new URLSearchParams({
    ...(preset !== undefined && { preset }),
    ...(expiresIn !== undefined && { expires_in: String(expiresIn) }),
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
  })
  const headers = {
    // Made once: the tries of one upload have to be the same request.
    'Idempotency-Key': quoted(options.idempotencyKey ?? crypto.randomUUID()),
    'Content-Type': options.contentType || blob.type || 'application/octet-stream',
    ...(wait && { Prefer: `wait=${Math.min(60, Math.ceil(wait))}` }),
  }
  return send(
    {
      path: `/v1/images${query.size > 0 ? `?${query}` : ''}`,
      init: { method: 'POST', headers },
      signal,
      tryMs: TRY_MS,
      eachTry: (attempt) => (onProgress ? watched(blob, onProgress, attempt) : { body: blob }),
    },
    async (response) => {
      const job = (await response.json()) as AcceptedJob
      onProgress?.({ sentBytes: blob.size, totalBytes: blob.size })
      return job
    },
  )
}

/** As RFC 8941 writes a string. */
function quoted(key: string): string {
  return `"${key.replace(/["\\]/g, '\\$&')}"`
}

/**
 * The body as a stream that tells how much of it was taken. Where the surroundings send no streams (Firefox, Safari,
 * Chromium over HTTP/1.1) it is sent whole, and progress is only told at the beginning and the end.
 */
function watched(blob: Blob, onProgress: (progress: Progress) => void, attempt: number) {
  const totalBytes = blob.size
  let sentBytes = 0
  onProgress({ sentBytes, totalBytes })
  // A browser that can send streams may still fail to, over HTTP/1.1: the second try does without.
  if (!sendsStreams() || (attempt > 1 && isBrowser())) return { body: blob }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sentBytes === totalBytes) return controller.close()
      const chunk = new Uint8Array(await blob.slice(sentBytes, sentBytes + CHUNK_BYTES).arrayBuffer())
      controller.enqueue(chunk)
      sentBytes += chunk.byteLength
      onProgress({ sentBytes, totalBytes })
    },
  })
  return { body, duplex: 'half' as const }
}

/** A browser that does not know streams as bodies takes them for text, and never asks for `duplex`. */
function sendsStreams(): boolean {
  let asked = false
  try {
    const { headers } = new Request('http://localhost', {
      method: 'POST',
      body: new ReadableStream(),
      get duplex() {
        asked = true
        return 'half'
      },
    } as RequestInit)
    return asked && !headers.has('content-type')
  } catch {
    return false
  }
}

function isBrowser(): boolean {
  return 'document' in globalThis || 'importScripts' in globalThis
}
