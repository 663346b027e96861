import { readFile } from 'node:fs/promises'
import { BUILT_IN_PRESETS, type Presets, parsePresets } from '../core/preset-file.ts'
import { ConfigError } from './config.ts'

/**
 * The presets that requests choose from.
 *
 * @param file null for the built-in one alone
 * @throws {ConfigError} naming the file, and each thing that is wrong in it
 */
export async function readPresets(file: string | null): Promise<Presets> {
  if (file === null) return BUILT_IN_PRESETS
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new ConfigError([`PRESETS names ${file}, which cannot be read: ${(error as Error).message}.`])
  }
  const parsed = parsePresets(text)
  if (parsed.ok) return parsed.presets
  throw new ConfigError(parsed.complaints.map((complaint) => `PRESETS ${file}: ${complaint}.`))
}
