import { Readable } from 'node:stream'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { DependencyError } from '../../core/errors.ts'
import type { ObjectStore, ObjectToPut } from '../../core/ports/object-store.ts'
import { guardedStream } from '../guarded-stream.ts'
import { readObjectBody } from '../object-body.ts'
import { sdkFailure } from '../sdk-failure.ts'
import { spooled } from './spool.ts'

/**
 * The `ObjectStore` port on one S3 bucket. A call that its signal ended rejects with the signal's reason, and its
 * connection is closed.
 *
 * Needs s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket; without the last one, S3 answers "forbidden"
 * where an object is missing.
 */
export function createS3Store(client: S3Client, bucket: string): ObjectStore {
  function failure(call: string, error: unknown, signal: AbortSignal): unknown {
    return sdkFailure('object_store', call, error, signal)
  }

  async function putBytes({ key, contentType }: ObjectToPut, body: Uint8Array, signal: AbortSignal) {
    const command = new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: contentType })
    try {
      await client.send(command, { abortSignal: signal })
    } catch (error) {
      throw failure('PutObject', error, signal)
    }
  }

  async function putStream(object: ObjectToPut & { bytes: number }, signal: AbortSignal) {
    const { key, bytes, contentType } = object
    const { chunks, fault } = readObjectBody(object, signal)
    const body = Readable.from(chunks, { objectMode: false })
    // The SDK pipes the body into the request and never hears of its error: the request would wait for the rest.
    const broken = new AbortController()
    body.once('error', () => broken.abort())
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: body,
      ContentLength: bytes,
      ContentType: contentType,
    })
    try {
      await client.send(command, { abortSignal: AbortSignal.any([signal, broken.signal]) })
    } catch (error) {
      const ofBody = fault()
      throw ofBody ? ofBody.error : failure('PutObject', error, signal)
    } finally {
      body.destroy()
    }
  }

  return {
    async put(object, signal) {
      signal.throwIfAborted()
      const { body } = object
      const bytes = body instanceof Uint8Array ? body.byteLength : object.bytes
      if (object.bytes !== undefined && bytes !== object.bytes) {
        throw new Error(`the body of ${object.key} has ${bytes} bytes, not ${object.bytes} as was announced`)
      }
      if (body instanceof Uint8Array) return putBytes(object, body, signal)
      if (bytes !== undefined) return putStream({ ...object, bytes }, signal)
      return spooled(object, signal, (whole) => putStream(whole, signal))
    },

    async get(key, { range }, signal) {
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        ...(range ? { Range: `bytes=${range.first}-${range.last}` } : {}),
      })
      try {
        const { Body, ContentLength } = await client.send(command, { abortSignal: signal })
        return {
          bytes: ContentLength!,
          body: guardedStream(Body as Readable, (error) => failure('GetObject', error, signal)),
        }
      } catch (error) {
        const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
        if (status === 404 && (error as Error).name !== 'NoSuchBucket') return null
        if (status === 416) {
          throw new RangeError(`${key} has no bytes from ${range?.first} to ${range?.last}`)
        }
        throw failure('GetObject', error, signal)
      }
    },

    async delete(keys, signal) {
      for (let from = 0; from < keys.length; from += MAX_DELETE_KEYS) {
        const command = new DeleteObjectsCommand({
          Bucket: bucket,
          Delete: {
            Objects: keys.slice(from, from + MAX_DELETE_KEYS).map((key) => ({ Key: key })),
            // Only what could not be deleted is answered.
            Quiet: true,
          },
        })
        try {
          const { Errors = [] } = await client.send(command, { abortSignal: signal })
          if (Errors.length > 0) throw notDeleted(Errors)
        } catch (error) {
          throw failure('DeleteObjects', error, signal)
        }
      }
    },

    async list({ prefix, after }, signal) {
      const command = new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        ...(after === undefined ? {} : { StartAfter: after }),
      })
      try {
        const { Contents = [] } = await client.send(command, { abortSignal: signal })
        return Contents.map(({ Key, LastModified }) => ({ key: Key!, modifiedAt: LastModified! }))
      } catch (error) {
        throw failure('ListObjectsV2', error, signal)
      }
    },
  }
}

/** What one DeleteObjects takes. */
const MAX_DELETE_KEYS = 1_000

function notDeleted(errors: { Key?: string | undefined; Code?: string | undefined }[]): DependencyError {
  const shown = errors.slice(0, 3).map(({ Key, Code }) => `${Key} (${Code})`)
  const more = errors.length > shown.length ? ` and ${errors.length - shown.length} more` : ''
  return new DependencyError('object_store', `DeleteObjects left ${shown.join(', ')}${more}`)
}
