import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { isAbsent } from './file-failure.ts'

/**
 * The keys of the files below the folder, in the order of the keys: those that begin with
 * `prefix` and come after `after`. Reads no folder that can have none of them, and none before its turn.
 */
export async function* listKeys(
  folder: string,
  { prefix, after }: { prefix: string; after: string },
  parent = '',
): AsyncGenerator<string> {
  for (const name of await sortedNames(path.join(folder, parent))) {
    const key = parent + name
    if (key.endsWith('/')) {
      const reachesPrefix = key.startsWith(prefix) || prefix.startsWith(key)
      // Every key below `key` begins with it, so that all are past `after` or none is, unless `after` lies below it too.
      const reachesAfter = compareKeys(key, after) > 0 || after.startsWith(key)
      if (reachesPrefix && reachesAfter) yield* listKeys(folder, { prefix, after }, key)
    } else if (key.startsWith(prefix) && compareKeys(key, after) > 0) {
      yield key
    }
  }
}

/** A folder's name ends in "/": that is how it compares with the names beside it, as a part of keys. */
async function sortedNames(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort(compareKeys)
  } catch (error) {
    // A delete may have taken the folder away meanwhile.
    if (isAbsent(error)) return []
    throw error
  }
}

function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
