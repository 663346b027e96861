import type { FileHandle } from 'node:fs/promises'
import type { ObjectToPut } from '../../core/ports/object-store.ts'
import { readObjectBody } from '../object-body.ts'
import { fileFailure } from './file-failure.ts'

/** Writes the body of a put into the file and returns its length. The body's own errors are passed on unchanged. */
export async function writeBody(file: FileHandle, object: ObjectToPut, signal: AbortSignal): Promise<number> {
  const { chunks, fault } = readObjectBody(object, signal)
  try {
    await file.writeFile(chunks)
    return (await file.stat()).size
  } catch (error) {
    const ofBody = fault()
    throw ofBody ? ofBody.error : fileFailure(`writing ${object.key}`, error, signal)
  }
}
