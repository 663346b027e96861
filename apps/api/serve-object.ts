import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { withDeadline } from '../../core/deadline.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import { readRange } from './byte-range.ts'
import { clientGone } from './client-gone.ts'
import { entityTag, namesTag } from './entity-tag.ts'
import { ProblemError } from './problem.ts'

export interface ServeParts {
  objectStore: Pick<ObjectStore, 'get'>
  clock: Clock
  timing: Timing
  log: Log
}

export interface ServedObject {
  key: string
  contentType: string
  bytes: number
  sha256: string
  /** Named where the object is to be saved, not shown. */
  fileName?: string
  /** Whether the request's Accept header chose it. */
  negotiated?: boolean
}

/**
 * Answers GET or HEAD with an object, or the part of it that was asked for, as a stream at the client's pace.
 *
 * @returns false where the store has no such object; nothing was answered then
 */
export async function serveObject(
  { objectStore, clock, timing, log }: ServeParts,
  request: Request,
  response: Response,
  object: ServedObject,
): Promise<boolean> {
  const tag = entityTag(object.sha256)
  const headers = {
    ETag: tag,
    // Asked again each time, which costs a 304: what was deleted must not live on in a cache.
    'Cache-Control': 'private, no-cache',
    'Accept-Ranges': 'bytes',
    // Of every variant, the fallback too, and of a 304: a cache would otherwise give one client's variant to another.
    ...(object.negotiated && { Vary: 'Accept' }),
    // Bytes from strangers, under our origin: shown as the type that was found in them, and never run.
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  if (ifMatch !== undefined && !namesTag(ifMatch, tag, { weakly: false })) {
    throw new ProblemError({
      status: 412,
      code: 'changed',
      detail: 'no entity tag of If-Match is the image’s',
    })
  }
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag, { weakly: true })) {
    response.status(304).set(headers).end()
    return true
  }

  const range = wantsRange(request, tag) ? readRange(request.headers.range, object.bytes) : 'whole'
  if (range === 'unsatisfiable') {
    throw new ProblemError({
      status: 416,
      code: 'range_not_satisfiable',
      detail: `the Range lies outside the ${object.bytes} bytes`,
      headers: { 'Content-Range': `bytes */${object.bytes}` },
    })
  }
  const describe = () => {
    const part = range !== 'whole'
    response.status(part ? 206 : 200).set({
      ...headers,
      'Content-Type': object.contentType,
      'Content-Length': String(part ? range.last - range.first + 1 : object.bytes),
      ...(part && { 'Content-Range': `bytes ${range.first}-${range.last}/${object.bytes}` }),
      ...(object.fileName && { 'Content-Disposition': `attachment; filename="${object.fileName}"` }),
    })
  }
  if (request.method === 'HEAD') {
    describe()
    response.end()
    return true
  }

  const gone = clientGone(response)
  const stored = await withDeadline(clock, timing.storeCallMs, gone, (signal) =>
    objectStore.get(object.key, range === 'whole' ? {} : { range }, signal),
  )
  if (!stored) return false
  describe()
  try {
    await pipeline(
      stored.body,
      whole(range === 'whole' ? object.bytes : range.last - range.first + 1),
      response,
    )
  } catch (err) {
    // Too late for another answer: the client sees a body that is too short.
    if (!gone.aborted) log.warn({ err, key: object.key }, 'an object broke off while it was sent')
  }
  return true
}

/**
 * Passes the object on as it comes, and fails where it ends too early. A response that merely ends then would leave the
 * client waiting, on a connection that is kept alive, for the bytes that Content-Length announced.
 */
function whole(bytes: number) {
  return async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let left = bytes
    for await (const chunk of chunks) {
      left -= chunk.length
      yield chunk
    }
    if (left !== 0) throw new Error(`the store gave ${bytes - left} bytes, of ${bytes}`)
  }
}

/** A Range counts for GET, and with If-Range only while the client's part is of the same bytes. */
function wantsRange({ method, headers }: Request, tag: string): boolean {
  return method === 'GET' && (headers['if-range'] === undefined || headers['if-range'] === tag)
}
