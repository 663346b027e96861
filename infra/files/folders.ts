import { access, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { ifPresent, isAbsent } from './file-failure.ts'

/**
 * Moves a synced file to its final place, so that it is there after a power cut: a rename is only as durable as the
 * folder that it changed, and that folder only as durable as the one which it stands in.
 *
 * @param root the folder above `target` that is known to last
 */
export async function moveDurably(file: string, target: string, root: string): Promise<void> {
  const folder = path.dirname(target)
  while (true) {
    await mkdir(folder, { recursive: true })
    try {
      await rename(file, target)
      break
    } catch (error) {
      if (!isAbsent(error)) throw error
      // A delete took the folder away between the two calls, because it was empty; unless the file itself is missing.
      await access(file)
    }
  }
  for (let changed = folder; ; changed = path.dirname(changed)) {
    await ifPresent(syncFolder(changed))
    if (changed === root) return
  }
}

/** Removes the folder, and those above it below `root`, as far as they are empty; returns the first one that stays. */
export async function removeEmptyFolders(folder: string, root: string): Promise<string> {
  let lowest = folder
  while (lowest !== root && (await isRemoved(lowest))) lowest = path.dirname(lowest)
  return lowest
}

async function isRemoved(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch {
    return false
  }
}

/** Removes the files that nothing has been written to for an hour: no put is that slow. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name)
    const facts = await ifPresent(stat(file))
    if (facts && facts.mtimeMs < Date.now() - HOUR_MS) await rm(file, { force: true })
  }
}

const HOUR_MS = 3_600_000

export async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders; its file system logs renames itself.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
