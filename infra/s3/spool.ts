import { randomUUID } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ObjectToPut } from '../../core/ports/object-store.ts'
import { fileFailure } from '../files/file-failure.ts'
import { writeBody } from '../files/write-body.ts'
import { guardedStream } from '../guarded-stream.ts'

/**
 * Keeps a body whose length nobody knows in a file of the system's temporary folder (`TMPDIR`), and hands it on with
 * its length once it has ended.
 *
 * S3 takes no object of unknown length in one request. The other way, a multipart upload, holds 5 MiB of each body in
 * memory, and leaves parts behind that nobody sees and everybody pays for when the process dies.
 */
export async function spooled<T>(
  object: ObjectToPut,
  signal: AbortSignal,
  use: (whole: ObjectToPut & { bytes: number }) => Promise<T>,
): Promise<T> {
  const { key, contentType } = object
  const name = path.join(tmpdir(), `img42-spool-${process.pid}-${randomUUID()}`)
  const translate = (error: unknown) => fileFailure(`spooling ${key}`, error, signal)
  const file = await open(name, 'wx+', 0o600).catch((error) => {
    throw translate(error)
  })
  try {
    // From here on the file has no name, so that it is gone however this process ends.
    await unlink(name).catch((error) => {
      throw translate(error)
    })
    const bytes = await writeBody(file, object, signal)
    const body = guardedStream(file.createReadStream({ start: 0 }), translate)
    return await use({ key, body, bytes, contentType })
  } finally {
    // The stream has closed it already, if it came to that.
    await file.close()
  }
}
