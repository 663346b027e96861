import { originalKey, outputsPrefix } from './object-keys.ts'
import type { ObjectStore } from './ports/object-store.ts'

/** Deletes a job's original and its outputs, of whichever engine. There may be none. */
export async function deleteJobObjects(
  objectStore: Pick<ObjectStore, 'list' | 'delete'>,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const outputs = await objectStore.list({ prefix: outputsPrefix(jobId) }, signal)
  await objectStore.delete([originalKey(jobId), ...outputs.map(({ key }) => key)], signal)
}
