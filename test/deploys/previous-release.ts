import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * What this version is deployed beside: the commit of the release before it. To be moved on with each release. Its schema
 * ends with 0002-queue-messages.
 */
export const PREVIOUS_RELEASE = '66a94a7bd29499a7c17d410c8f4cd84568889290'

const ROOT = path.resolve(import.meta.dirname, '../..')

export interface Unpacked {
  folder: string
  remove(): void
}

/**
 * Unpacks the previous release from the repository's history, with this version's packages: what it needs is the same or
 * later there.
 *
 * @returns why it cannot be had, where it cannot: no git, or a clone without its history
 */
export function unpackPreviousRelease(): Unpacked | { missing: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'img42-previous-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const archive = execFileSync('git', ['-C', ROOT, 'archive', PREVIOUS_RELEASE], {
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 100_000_000,
    })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
  } catch (error) {
    remove()
    return { missing: (error as Error).message.trim().split('\n').at(-1)! }
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  return { folder, remove }
}
