import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../core/errors.ts'
import { DEFAULT_LIMITS } from '../../../core/limits.ts'
import type { Rendering, RenderPlan, SourceFacts } from '../../../core/ports/renderer.ts'
import { DEFAULT_PRESET } from '../../../core/preset.ts'
import { sharedImages } from '../../../test/images.ts'
import { DEFAULT_PLAN } from '../../../test/job-result.ts'
import { openRenderer, type ProcessRenderer } from './pool.ts'
import type { ProcessEnd } from './render-process.ts'
import { difference, meanOf, type Shown, shown } from './testing/pictures.ts'
import { sourceOf } from './testing/source.ts'

// The real images that are kept outside of the repository, each against what its manifest calls right.

const { images, absent } = sharedImages()
const byName = new Map(images.map((image) => [image.name, image]))

/** Where a rule of this service decides before, or otherwise than, what the manifest looks at. */
const POLICY: Record<string, { codes: string[]; because: string }> = {
  'header-only-16000x16000.png': {
    codes: ['too_many_pixels'],
    because: 'its pixels are over the limit, which its header tells before its missing data matters',
  },
}

const REFUSALS: Record<string, string> = {
  EMPTY: 'corrupt',
  UNSUPPORTED_CODEC_HEVC: 'unsupported_type',
  UNSUPPORTED_FORMAT: 'unsupported_type',
}

type Got = { rendering: Rendering; picture: Shown } | { code: string }

let renderer: ProcessRenderer
const ends: ProcessEnd[] = []
const rows: string[] = []

beforeAll(async () => {
  renderer = await openRenderer({
    concurrency: 1,
    limits: DEFAULT_LIMITS,
    onProcessEnd: (end) => ends.push(end),
  })
})
afterAll(async () => {
  await renderer.close()
  const right = rows.filter((row) => row.startsWith('right')).length
  console.log(
    [`shared images: ${images.length} present, ${absent.length} absent; ${right} of ${rows.length} right`]
      .concat(rows.filter((row) => row.startsWith('WRONG') || row.endsWith(')')))
      .join('\n  '),
  )
})

async function get(name: string): Promise<Got> {
  try {
    const rendering = await renderer.render(
      sourceOf(byName.get(name)!.read()),
      DEFAULT_PLAN,
      new AbortController().signal,
    )
    return { rendering, picture: await shown(rendering.outputs[0]!.body) }
  } catch (error) {
    if (error instanceof PermanentError) return { code: error.code }
    throw error
  }
}

/** What is wrong by the manifest; empty for what is right. */
async function faults(name: string, right: string, got: Got): Promise<string[]> {
  if (name.includes('.svg')) return 'code' in got && got.code === 'unsupported_type' ? [] : ['SVG is off']
  const codes = [
    ...(POLICY[name]?.codes ?? []),
    ...[...right.matchAll(/(?:reject|or) ([A-Z_]+)/g)].map(
      ([, kind]) => REFUSALS[kind!] ?? kind!.toLowerCase(),
    ),
  ]
  const mayBeAccepted = right.startsWith('accept') || right.includes('(or')
  if ('code' in got) return codes.includes(got.code) ? [] : [`refused as ${got.code}`]
  if (!mayBeAccepted) return ['accepted']
  const [, width, height] = /accept (?:\(policy\) )?(\d+)x(\d+)/.exec(right) ?? []
  const [, mean, within] = /mean~([\d,]+)±(\d+)/.exec(right) ?? []
  const [, twin] = /same picture as (\S+)/.exec(right) ?? []
  return [
    ...(width && height ? sizeFaults(got.picture, Number(width), Number(height)) : []),
    ...(mean ? meanFaults(got.picture, mean.split(',').map(Number), Number(within)) : []),
    ...('rendering' in got ? factFaults(got.rendering.facts, right) : []),
    ...(twin && twin !== name ? await twinFaults(got.picture, twin) : []),
  ]
}

/** The manifest's sizes are of thumbnails that fit into 128 × 128. */
function sizeFaults(picture: Shown, width: number, height: number): string[] {
  const scale = Math.min(1, 128 / Math.max(picture.width, picture.height))
  const off = Math.max(Math.abs(picture.width * scale - width), Math.abs(picture.height * scale - height))
  return off > 1 ? [`${picture.width}x${picture.height}, not in proportion to ${width}x${height}`] : []
}

function meanFaults(picture: Shown, expected: number[], within: number): string[] {
  const mean = meanOf(picture)
  return mean.some((value, i) => Math.abs(value - expected[i]!) > within)
    ? [`mean ${mean}, not ${expected}`]
    : []
}

/** Of an animation: frames, duration and loop; what the bytes are, where the client called it something else. */
function factFaults({ type, pages, durationMs, loop }: SourceFacts, right: string): string[] {
  const [, least, frames] = /frames (>=)?(\d+)/.exec(right) ?? []
  const [, duration] = /duration (\d+) ms/.exec(right) ?? []
  const [, times] = /loop (\d+)/.exec(right) ?? []
  const [, detected] = /detected (\S+)/.exec(right) ?? []
  return [
    ...(frames && (least ? pages < Number(frames) : pages !== Number(frames)) ? [`${pages} frames`] : []),
    ...(duration && durationMs !== Number(duration) ? [`${durationMs} ms`] : []),
    ...(times && loop !== Number(times) ? [`loop ${loop}`] : []),
    ...(detected && type !== detected ? [type] : []),
  ]
}

async function twinFaults(picture: Shown, twin: string): Promise<string[]> {
  const other = await get(twin)
  const off = 'code' in other ? Number.POSITIVE_INFINITY : difference(picture, other.picture)
  return off >= 3 ? [`differs from ${twin} by ${off.toFixed(1)}`] : []
}

describe.skipIf(images.length === 0)(
  `real images (${images.length} present, ${absent.length} absent)`,
  () => {
    it.each(images.map(({ name, rightOutcome }) => [name, rightOutcome]))('%s: %s', async (name, right) => {
      const got = await get(name)
      const wrong = await faults(name, right, got)
      const what = 'code' in got ? got.code : `${got.picture.width}x${got.picture.height}`
      const policy = POLICY[name] ? ` (${POLICY[name].because})` : ''
      rows.push(`${wrong.length === 0 ? 'right' : 'WRONG'}  ${name}: ${wrong.join('; ') || what}${policy}`)
      expect(wrong).toEqual([])
      expect(ends).toEqual([])
    })

    it('an animated PNG is said to be one, with all that is not shown', async () => {
      if (!byName.has('ball.png')) return
      const { rendering } = (await get('ball.png')) as { rendering: Rendering }
      expect(rendering.facts).toMatchObject({ pages: 20, durationMs: 1_500, loop: 0 })
      expect(rendering.warnings.map(({ code }) => code)).toContain('apng_as_still')
    })

    it('fine light detail survives halving in linear light', async () => {
      const image = byName.get('gamma_dalai_lama_gray.jpg')
      if (!image) return
      const [output] = DEFAULT_PRESET.outputs
      const halved: RenderPlan = {
        ...DEFAULT_PLAN,
        preset: { ...DEFAULT_PRESET, linear: true, outputs: [{ ...output!, width: 129, height: 111 }] },
      }
      const { outputs } = await renderer.render(sourceOf(image.read()), halved, new AbortController().signal)
      const { rgb } = await shown(outputs[0]!.body)
      const mean = rgb.reduce((sum, value) => sum + value, 0) / rgb.length
      const deviation = Math.sqrt(rgb.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rgb.length)
      expect(deviation).toBeGreaterThan(12)
    })

    it('no output holds what its original hides', async () => {
      for (const [name, secret] of [
        ['DSCN0010.jpg', 'Exif'],
        ['jpeg-trailing-zip.jpg', 'secret-payload'],
        ['Channel_digital_image_CMYK_color.jpg', 'ICC_PROFILE'],
      ] as const) {
        if (!byName.has(name)) continue
        const got = await get(name)
        expect(byName.get(name)!.read().includes(secret)).toBe(true)
        expect('rendering' in got && Buffer.from(got.rendering.outputs[0]!.body).includes(secret)).toBe(false)
      }
    })
  },
)
