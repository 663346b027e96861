import { z } from 'zod'
import { type Fit, NAMED_POSITIONS, OUTPUT_FORMATS, type OutputPlan, type Preset } from './preset.ts'

/** The most that a preset may ask for. The limits of the formats themselves are the renderer's affair. */
export const PRESET_LIMITS = {
  outputs: 16,
  /** Of a width or a height, in pixels. */
  side: 16_384,
  /** Of width × height, where both are given. */
  pixels: 100_000_000,
} as const

/** The address of the original among a job's images. */
const TAKEN_NAME = 'original'

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
const NAME_RULE =
  'has to be a name of 1 to 64 characters from a to z, 0 to 9, _ and -, the first a letter or digit'

/** The name of a preset or an output: part of URLs, keys and query strings. */
export const presetName = z.string({ error: () => NAME_RULE }).regex(NAME, { error: () => NAME_RULE })

/** For a strict object: its complaint of unknown fields is its own. */
export const objectRule = {
  error: ({ code }: { code: string }) => (code === 'invalid_type' ? 'has to be an object' : undefined),
}

const flag = z.boolean({ error: () => 'has to be true or false' })

const whole = (least: number, most: number) => {
  const error = () => `has to be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

const oneOf = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, { error: () => `has to be one of ${names.join(', ')}` })

const fraction = z
  .number({ error: () => 'has to be a number from 0 to 1' })
  .min(0, { error: () => 'has to be a number from 0 to 1' })
  .max(1, { error: () => 'has to be a number from 0 to 1' })

const POSITION_RULE = `has to be one of ${NAMED_POSITIONS.join(', ')}, or a point { "x", "y" } of fractions`

const position = z.union([z.enum(NAMED_POSITIONS), z.strictObject({ x: fraction, y: fraction })], {
  error: () => POSITION_RULE,
})

const COLOUR_RULE = 'has to be a colour such as #ffffff or #ffffff80'

const OUTPUT = z
  .strictObject(
    {
      name: presetName.refine((name) => name !== TAKEN_NAME, {
        error: () => `cannot be ${TAKEN_NAME}, which is the original’s`,
      }),
      width: whole(1, PRESET_LIMITS.side).nullable().default(null),
      height: whole(1, PRESET_LIMITS.side).nullable().default(null),
      fit: oneOf(['inside', 'cover', 'contain'] satisfies Fit[]).default('inside'),
      position: position.default('centre'),
      background: z
        .string({ error: () => COLOUR_RULE })
        .regex(/^#(?:[0-9a-f]{6}|[0-9a-f]{8})$/i, { error: () => COLOUR_RULE })
        .default('#ffffff'),
      enlarge: flag.default(false),
      format: oneOf(['auto', 'basic', ...OUTPUT_FORMATS]).default('auto'),
      avif: flag.default(false),
      quality: whole(1, 100).nullable().default(null),
      animated: flag.default(false),
    },
    objectRule,
  )
  .check(({ value, issues }) => {
    for (const [field, message] of contradictionsIn(value)) {
      issues.push({ code: 'custom', path: [field], message, input: value[field] })
    }
  })

/** Fields whose value the output's other fields leave no meaning: asked for, they would silently do nothing. */
function contradictionsIn(plan: OutputPlan): [field: keyof OutputPlan, rule: string][] {
  const { width, height, fit, position, format } = plan
  const found: [keyof OutputPlan, string][] = []
  if (fit !== 'inside' && (width === null || height === null)) {
    found.push([width === null ? 'width' : 'height', `has to be given with fit ${fit}`])
  }
  if (width !== null && height !== null && width * height > PRESET_LIMITS.pixels) {
    found.push(['height', `makes width × height more than ${PRESET_LIMITS.pixels} pixels`])
  }
  if (fit === 'inside' && position !== 'centre') found.push(['position', 'is for fit cover and contain only'])
  if (fit === 'contain' && position === 'attention')
    found.push(['position', 'attention is for fit cover only'])
  if (plan.avif && format !== 'auto') found.push(['avif', 'is for format auto only'])
  if (plan.quality !== null && (format === 'png' || format === 'gif')) {
    found.push(['quality', `is not for format ${format}, which loses nothing to it`])
  }
  if (plan.animated && ['jpeg', 'png', 'avif'].includes(format)) {
    found.push(['animated', `is not for format ${format}, of which only still pictures are made`])
  }
  return found
}

const OUTPUTS_RULE = `has to be a list of 1 to ${PRESET_LIMITS.outputs} outputs`

/** A preset as a file has it, in snake_case, with everything that may be left out filled in. */
export const PRESET = z
  .strictObject(
    {
      linear: flag.default(false),
      keep_copyright: flag.default(false),
      outputs: z
        .array(OUTPUT, { error: () => OUTPUTS_RULE })
        .min(1, { error: () => OUTPUTS_RULE })
        .max(PRESET_LIMITS.outputs, { error: () => OUTPUTS_RULE })
        .check(({ value, issues }) => {
          const names = value.map(({ name }) => name)
          for (const [index, name] of names.entries()) {
            if (names.indexOf(name) === index) continue
            issues.push({
              code: 'custom',
              path: [index, 'name'],
              message: 'is another output’s as well',
              input: name,
            })
          }
        }),
    },
    objectRule,
  )
  .transform(
    ({ outputs, linear, keep_copyright }): Preset => ({ outputs, linear, keepCopyright: keep_copyright }),
  )
