import type { Output } from '../../core/job.ts'
import type { OutputFormat } from '../../core/preset.ts'

/** An output as its row has it: those from before there were presets say less. */
export type StoredOutput = Omit<Output, 'format' | 'frames' | 'durationMs'> & Partial<Output>

/** What an old row leaves out: its outputs were still pictures, JPEG or WebP. */
export function toOutput(stored: StoredOutput): Output {
  const format = stored.contentType.replace('image/', '') as OutputFormat
  return { format, frames: 1, durationMs: null, ...stored }
}
