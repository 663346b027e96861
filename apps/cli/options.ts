import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { UsageError } from './usage-error.ts'

/**
 * Reads a command's options, and as many words as it has.
 *
 * @throws {UsageError} for an option that it has not, one without its value, or another number of words
 */
export function readOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  words: readonly string[] = [],
) {
  const parsed = parse(args, options)
  const { values, positionals } = parsed
  if (positionals.length > words.length) throw new UsageError(`there is no place for ${positionals.at(-1)}`)
  const missing = words[positionals.length]
  if (missing) throw new UsageError(`${missing} is missing`)
  return { values, words: positionals }
}

function parse<Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    // Node's sentence goes on about how a positional argument could be given.
    throw new UsageError((error as Error).message.split('. ')[0]!)
  }
}

/** @throws {UsageError} naming the option, unless its value is a number within the limits; undefined where it is not given */
export function readNumber(
  option: string,
  text: string | undefined,
  { least, most, whole }: { least: number; most: number; whole: boolean },
): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  const digits = whole ? /^\d{1,15}$/ : /^\d{1,15}(\.\d{1,6})?$/
  if (digits.test(text) && value >= least && value <= most) return value
  throw new UsageError(`${option} has to be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`)
}

/** @throws {UsageError} naming the option, where it is not given */
export function required(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is missing`)
  return value
}

/** @throws {UsageError} unless `--tenant` is given and fit to be a tenant's name */
export function readTenant(text: string | undefined): string {
  const tenant = required('--tenant', text)
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/.test(tenant)) return tenant
  throw new UsageError('--tenant has to be 1 to 63 of a-z, 0-9, _ and -, beginning with a letter or digit')
}
