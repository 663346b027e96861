import type { OutputFormat } from './preset.ts'

/**
 * Where a job's objects live. Derived from the job alone, so that a second attempt writes the same bytes to the same
 * place; an output's key carries the engine, so that a newer engine never overwrites what an older one recorded.
 */
export function originalKey(jobId: string): string {
  return `${ORIGINALS}${jobId}`
}

export function outputKey(
  jobId: string,
  { name, format }: { name: string; format: OutputFormat },
  engine: string,
): string {
  return `${outputsPrefix(jobId)}${name}@${engine}.${format}`
}

/** What every output of the job begins with, whichever engine made it. */
export function outputsPrefix(jobId: string): string {
  return `${OUTPUTS}${jobId}/`
}

/** The job that an object belongs to, or null for a key that is none of ours. */
export function jobIdOfKey(key: string): string | null {
  return /^(?:originals|outputs)\/(img_[a-z0-9]+)(?:\/|$)/.exec(key)?.[1] ?? null
}

export const ORIGINALS = 'originals/'
export const OUTPUTS = 'outputs/'
