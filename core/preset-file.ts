import { z } from 'zod'
import { DEFAULT_PRESET, DEFAULT_PRESET_NAME, type Preset } from './preset.ts'
import { objectRule, PRESET, presetName } from './preset-schema.ts'

/** The presets that a request may name, in the order of their names in the file. */
export type Presets = ReadonlyMap<string, Preset>

/** What there is without a file. */
export const BUILT_IN_PRESETS: Presets = new Map([[DEFAULT_PRESET_NAME, DEFAULT_PRESET]])

const MAX_PRESETS = 100
const PRESETS_RULE = `has to be an object of 1 to ${MAX_PRESETS} presets by their names`

const FILE = z.strictObject(
  {
    presets: z
      .record(presetName, PRESET, { error: () => PRESETS_RULE })
      .refine((presets) => inRange(Object.keys(presets).length), { error: () => PRESETS_RULE }),
  },
  objectRule,
)

/**
 * Reads a file of presets, as docs/presets.md describes it. They stand beside the built-in one, and in its place where
 * one has its name.
 *
 * @returns the presets, or a sentence for each thing that is wrong: where it is, what it has to be, and what it is
 */
export function parsePresets(
  text: string,
): { ok: true; presets: Presets } | { ok: false; complaints: string[] } {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { ok: false, complaints: [`the file is no JSON: ${(error as Error).message}`] }
  }
  const file = FILE.safeParse(json, { reportInput: true })
  if (!file.success) return { ok: false, complaints: file.error.issues.map(complaintOf) }
  return { ok: true, presets: new Map([...BUILT_IN_PRESETS, ...Object.entries(file.data.presets)]) }
}

function complaintOf(issue: z.core.$ZodIssue): string {
  const path = pathOf(issue.path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return `${path} has ${issue.keys.length === 1 ? 'an unknown field' : 'unknown fields'}: ${issue.keys.map(short).join(', ')}`
    case 'invalid_key':
      return `${path}: a preset’s name ${issue.issues[0]?.message ?? 'is wrong'}, not ${kindOf(issue.path.at(-1))}`
    case 'custom':
      return `${path} ${issue.message}`
    default:
      if (issue.input === undefined) return `${path} is missing: it ${issue.message}`
      return `${path} ${issue.message}, not ${kindOf(issue.input)}`
  }
}

/** `presets.product.outputs[0].width` */
function pathOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${short(String(step))}`))
  return steps.join('').replace(/^\./, '') || 'the file'
}

/** What stands there, in few words: numbers and short texts as they are. */
function kindOf(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `the text ${JSON.stringify(short(value))}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  return 'an object'
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function inRange(count: number): boolean {
  return count >= 1 && count <= MAX_PRESETS
}
