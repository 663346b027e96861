import sharp from 'sharp'
import { expect, it } from 'vitest'
import { render } from '../../apps/worker/renderer/render.ts'
import { meanOf, type Shown, shown } from '../../apps/worker/renderer/testing/pictures.ts'
import { renderPlan } from '../../apps/worker/renderer/testing/plans.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import type { OutputPlan, Preset } from '../../core/preset.ts'
import { sharedImages } from '../images.ts'

// Outputs other than the default one, of the real images that are kept outside of the repository.

const present = new Map(sharedImages().images.map((image) => [image.name, image]))
const named = new Set<string>()

function having(...names: string[]) {
  for (const name of names) named.add(name)
  return it.runIf(names.every((name) => present.has(name)))
}

async function outputsOf(name: string, outputs: Partial<OutputPlan>[], preset: Partial<Preset> = {}) {
  const original = present.get(name)!.read()
  const rendering = await render(original, DEFAULT_LIMITS, renderPlan(outputs, preset))
  return { ...rendering, codes: rendering.warnings.map(({ code }) => code) }
}

function deviationOf({ rgb }: Shown): number {
  const mean = rgb.reduce((sum, value) => sum + value, 0) / rgb.length
  return Math.sqrt(rgb.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rgb.length)
}

for (const [name, durationMs, loop, size] of [
  ['animated-loop-3.gif', 42_000, 3, { width: 128, height: 99 }],
  ['rotating-squares.gif', 900, 0, { width: 80, height: 80 }],
  ['rotating-squares.webp', 900, 0, { width: 80, height: 80 }],
  ['dispose-background.gif', 1_500, 11, { width: 128, height: 112 }],
  // 97 frames that differ; after 1,024 of no delay each, all of them the same.
  ['big-height.webp', null, 0, { width: 10, height: 128 }],
  ['1024-pages.gif', null, 0, { width: 1, height: 1 }],
] as const) {
  having(name)(`a real animation keeps its duration and loops: ${name}`, async () => {
    const plans = (['webp', 'gif'] as const).map((format) => ({
      ...{ name: format, format, animated: true, width: 128, height: 128 },
    }))
    const { outputs, codes, facts } = await outputsOf(name, plans)
    expect(codes).not.toContain('animation_dropped')
    for (const output of outputs) {
      expect(output).toMatchObject(size)
      const seen = await sharp(output.body, { animated: true }).metadata()
      expect(seen.pages ?? 1).toBe(output.frames)
      if (durationMs === null) continue
      expect([output.durationMs, facts.durationMs, seen.loop]).toEqual([durationMs, durationMs, loop])
    }
  })

  having(name)(`a real animation is one picture in still formats, and no strip: ${name}`, async () => {
    const plans = (['jpeg', 'png', 'avif'] as const).map((format) => ({
      ...{ name: format, format, animated: true, width: 128, height: 128 },
    }))
    const { outputs, codes } = await outputsOf(name, plans)
    for (const output of outputs) expect(output).toMatchObject({ ...size, frames: 1 })
    expect(codes).toContain('animation_dropped')
  })
}

having('gamma_dalai_lama_gray.jpg')('in linear light a picture of fine lines does not vanish', async () => {
  const plan = { width: 129, format: 'png' } as const
  const picture = async (linear: boolean) =>
    shown((await outputsOf('gamma_dalai_lama_gray.jpg', [plan], { linear })).outputs[0]!.body)
  expect(deviationOf(await picture(true))).toBeGreaterThan(12)
  expect(deviationOf(await picture(false))).toBeLessThan(6)
})

for (const name of ['full-transparent.png', 'paletted-transparent.png']) {
  having(name)(`nothing is black behind transparency: ${name}`, async () => {
    const { outputs } = await outputsOf(name, [{ format: 'jpeg' }, { name: 'png', format: 'png' }])
    const [jpeg, png] = await Promise.all(outputs.map(({ body }) => shown(body)))
    // What the alpha channel shows over white is what the JPEG shows.
    const [flat, wanted] = [meanOf(jpeg!), meanOf(png!)]
    for (const i of [0, 1, 2]) expect(Math.abs(flat[i]! - wanted[i]!)).toBeLessThan(3)
    if (name === 'full-transparent.png') expect(flat).toEqual([255, 255, 255])
  })
}

for (const [name, size, clamped] of [
  ['20000x4.png', { width: 16_383, height: 3 }, true],
  ['65500x1.jpg', { width: 16_383, height: 1 }, true],
] as const) {
  having(name)(`no side is 0, and a format’s limit is kept and told: ${name}`, async () => {
    const own = await outputsOf(name, [{ format: 'webp' }])
    expect(own.outputs[0]).toMatchObject(size)
    expect(own.codes.includes('output_clamped')).toBe(clamped)
    for (const fit of ['inside', 'cover', 'contain'] as const) {
      const { outputs, codes } = await outputsOf(name, [{ format: 'webp', width: 128, height: 128, fit }])
      expect(Math.min(outputs[0]!.width, outputs[0]!.height)).toBeGreaterThan(0)
      expect(codes).not.toContain('output_clamped')
    }
  })
}

for (const [name, secret] of [
  ['jpeg-trailing-zip.jpg', 'secret-payload'],
  ['DSCN0010.jpg', 'NIKON'],
] as const) {
  having(name)(`nothing but the picture goes along, with or without a notice: ${name}`, async () => {
    for (const keepCopyright of [false, true]) {
      const plans = (['jpeg', 'webp', 'avif', 'png', 'gif'] as const).map((format) => ({
        name: format,
        format,
        width: 200,
      }))
      const { outputs } = await outputsOf(name, plans, { keepCopyright })
      for (const { body } of outputs) expect(Buffer.from(body).includes(secret)).toBe(false)
    }
  })
}

// Here rather than in a hook, which does not run where all tests are left out.
const absent = [...named].filter((name) => !present.has(name))
console.log(`outputs: ${named.size} real images named, ${absent.length} absent; what needs those is left out`)
