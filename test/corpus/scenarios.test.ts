import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonOf, startApi } from '../../apps/api/testing/start-api.ts'
import { openRenderer, type ProcessRenderer } from '../../apps/worker/renderer/pool.ts'
import type { ProcessEnd } from '../../apps/worker/renderer/render-process.ts'
import { difference, meanOf, type Shown, shown } from '../../apps/worker/renderer/testing/pictures.ts'
import { renderPlan } from '../../apps/worker/renderer/testing/plans.ts'
import { HAS_PROC, isComputing, renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { sourceOf } from '../../apps/worker/renderer/testing/source.ts'
import { DEFAULT_LIMITS, type Limits } from '../../core/limits.ts'
import type { RenderedOutput, Rendering } from '../../core/ports/renderer.ts'
import type { OutputFormat, OutputPlan, Preset } from '../../core/preset.ts'
import { refusalOf } from '../images/inspect.ts'
import { sharedImages, type TestImageName, testImage } from '../images.ts'
import { DEFAULT_PLAN } from '../job-result.ts'

// Twenty public bug reports of other services, each as what is right here. Each is tried with images that are made here,
// and with the real ones it came with where they are present.

const LIMITS: Limits = { ...DEFAULT_LIMITS, acceptSvg: true }
const present = new Map(sharedImages().images.map((image) => [image.name, image]))
const named = new Set<string>()

const ends: ProcessEnd[] = []
let renderer: ProcessRenderer

beforeAll(async () => {
  renderer = await openRenderer({ concurrency: 2, limits: LIMITS, onProcessEnd: (end) => ends.push(end) })
})
afterAll(async () => {
  await renderer.close()
  const absent = [...named].filter((name) => !present.has(name))
  const list = absent.length > 0 ? ` (${absent.join(', ')})` : ''
  console.log(`scenarios: ${named.size} real images named, ${absent.length} absent${list}`)
})

/** The real images of these names that are present. */
function real(...names: string[]): { name: string; bytes: Buffer }[] {
  for (const name of names) named.add(name)
  return names.flatMap((name) => {
    const image = present.get(name)
    return image ? [{ name, bytes: image.read() }] : []
  })
}

async function made(...names: TestImageName[]): Promise<{ name: string; bytes: Buffer }[]> {
  return Promise.all(names.map(testImage))
}

type Rendered = Rendering & { codes: string[]; first: RenderedOutput }

async function render(
  bytes: Buffer,
  outputs: Partial<OutputPlan>[] = [{ format: 'jpeg', width: 128, height: 128 }],
  preset: Partial<Preset> = {},
  exposeGps = false,
): Promise<Rendered> {
  const plan = { ...renderPlan(outputs, preset), exposeGps }
  const rendering = await renderer.render(sourceOf(bytes), plan, new AbortController().signal)
  return { ...rendering, codes: rendering.warnings.map(({ code }) => code), first: rendering.outputs[0]! }
}

const inFormats = (formats: readonly OutputFormat[], asked: Partial<OutputPlan> = {}) =>
  formats.map((format) => ({ name: format, format, ...asked }))

function deviationOf({ rgb }: Shown): number {
  const mean = rgb.reduce((sum, value) => sum + value, 0) / rgb.length
  return Math.sqrt(rgb.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rgb.length)
}

function furthest(a: number[], b: number[]): number {
  return Math.max(...a.map((value, i) => Math.abs(value - b[i]!)))
}

test('1: the eight orientations of EXIF give one and the same upright picture', async () => {
  const own = await made(
    ...([1, 2, 3, 4, 5, 6, 7, 8] as const).map((value) => `jpeg-orientation-${value}` as const),
  )
  const theirs = real(...[1, 2, 3, 4, 5, 6, 7, 8].map((value) => `Landscape_${value}.jpg`))
  for (const [images, facts] of [
    [own, { width: 480, height: 320 }],
    [theirs, { width: 600, height: 400 }],
  ] as const) {
    let upright: Shown | undefined
    for (const { name, bytes } of images) {
      const rendered = await render(bytes)
      expect(rendered.facts, name).toMatchObject(facts)
      expect(rendered.first, name).toMatchObject({ width: 128, height: 85 })
      expect((await sharp(rendered.first.body).metadata()).orientation, name).toBeUndefined()
      const picture = await shown(rendered.first.body)
      upright ??= picture
      expect(difference(picture, upright), name).toBeLessThan(3)
    }
  }
})

test('2: wide colours are made sRGB before their profile is dropped', async () => {
  const [wide, plain] = await made('png-display-p3', 'png-opaque')
  const seen = await render(wide!.bytes, [{ format: 'png', width: 128 }])
  const meant = await render(plain!.bytes, [{ format: 'png', width: 128 }])
  expect(difference(await shown(seen.first.body), await shown(meant.first.body))).toBeLessThan(3)
  expect((await sharp(seen.first.body).metadata()).icc).toBeUndefined()
  for (const { bytes } of real('p3.png')) {
    const { first } = await render(bytes, [{ format: 'png' }])
    expect(furthest(meanOf(await shown(first.body)), [255, 0, 0])).toBeLessThanOrEqual(3)
  }
})

test('3: CMYK, with and without a profile, becomes the sRGB picture that it is, and its profile goes', async () => {
  const twins = [
    // A press has not all of its colours.
    { images: await made('jpeg-cmyk', 'png-opaque'), within: 20 },
    { images: real('pil_sample_cmyk.jpg', 'pil_sample_rgb.jpg'), within: 8 },
  ].filter(({ images }) => images.length === 2)
  for (const {
    images: [cmyk, rgb],
    within,
  } of twins) {
    const [seen, meant] = await Promise.all([render(cmyk!.bytes), render(rgb!.bytes)])
    const means = await Promise.all([seen, meant].map(async ({ first }) => meanOf(await shown(first.body))))
    expect(furthest(means[0]!, means[1]!), cmyk!.name).toBeLessThanOrEqual(within)
    expect((await sharp(seen.first.body).metadata()).channels).toBe(3)
  }
  for (const { bytes } of real('Channel_digital_image_CMYK_color.jpg')) {
    const { first } = await render(bytes)
    expect(furthest(meanOf(await shown(first.body)), [120, 126, 115])).toBeLessThanOrEqual(8)
    expect((await sharp(first.body).metadata()).icc).toBeUndefined()
    expect(first.body.byteLength).toBeLessThan(50_000)
  }
})

const ANIMATIONS = [
  { name: 'gif-animated', frames: 5, durationMs: 600, loop: 0 },
  { name: 'webp-animated', frames: 5, durationMs: 600, loop: 3 },
] as const
const REAL_ANIMATIONS = [
  { name: 'rotating-squares.gif', frames: 30, durationMs: 900, loop: 0 },
  { name: 'rotating-squares.webp', frames: 9, durationMs: 900, loop: 0 },
  { name: 'animated-loop-3.gif', frames: 10, durationMs: 42_000, loop: 3 },
  { name: 'dispose-background.gif', frames: 3, durationMs: 1_500, loop: 11 },
] as const

test('4: an animation keeps frames, duration and loops as WebP; a still format shows its first frame and says so', async () => {
  const own = await Promise.all(
    ANIMATIONS.map(async (one) => ({ ...one, bytes: (await testImage(one.name)).bytes })),
  )
  const theirs = REAL_ANIMATIONS.flatMap((one) => real(one.name).map(({ bytes }) => ({ ...one, bytes })))
  for (const { name, bytes, frames, durationMs, loop } of [...own, ...theirs]) {
    const moving = await render(bytes, [{ format: 'webp', animated: true, width: 64, height: 64 }])
    expect(moving.facts, name).toMatchObject({ pages: frames, durationMs, loop })
    const seen = await sharp(moving.first.body, { animated: true }).metadata()
    expect(seen.loop, name).toBe(loop)
    expect(seen.pages, name).toBe(moving.first.frames)
    expect(sum(seen.delay ?? []), name).toBe(durationMs)
    expect(moving.codes, name).not.toContain('animation_dropped')

    const still = await render(bytes, [{ format: 'png', width: 64, height: 64 }])
    expect(still.codes, name).toContain('animation_dropped')
    const first = await shown(await sharp(moving.first.body, { page: 0 }).png().toBuffer())
    // Lossy beside lossless.
    expect(difference(await shown(still.first.body), first), name).toBeLessThan(6)
  }
})

test('5: what a frame is shown for is kept, and a delay of nothing is 100 ms, as browsers have it', async () => {
  const [instant] = await made('gif-without-delays')
  const { facts, first } = await render(instant!.bytes, [{ format: 'webp', animated: true }])
  expect(facts.durationMs).toBe(500)
  expect((await sharp(first.body, { animated: true }).metadata()).delay).toEqual([100, 100, 100, 100, 100])
  for (const { bytes } of real('rotating-squares.webp')) {
    const { first: uneven } = await render(bytes, [{ format: 'gif', animated: true }])
    const { delay = [] } = await sharp(uneven.body, { animated: true }).metadata()
    expect([new Set(delay).size > 1, sum(delay)]).toEqual([true, 900])
  }
})

test('6: what is transparent lies on white in a JPEG, or on the background that was asked for', async () => {
  const images = [
    ...(await made('png-fully-transparent')),
    ...real('full-transparent.png', 'paletted-transparent.png'),
  ]
  for (const { name, bytes } of images) {
    const { outputs } = await render(bytes, [
      { name: 'white', format: 'jpeg', width: 64 },
      { name: 'blue', format: 'jpeg', width: 64, background: '#0000ff' },
      { name: 'clear', format: 'png', width: 64 },
    ])
    const [white, blue] = await Promise.all(outputs.map(async ({ body }) => meanOf(await shown(body))))
    const over = (background: string) =>
      sharp(outputs[2]!.body)
        .flatten({ background })
        .removeAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true })
    for (const [mean, background] of [
      [white!, '#ffffff'],
      [blue!, '#0000ff'],
    ] as const) {
      const { data, info } = await over(background)
      expect(furthest(mean, meanOf({ ...info, rgb: data })), `${name} over ${background}`).toBeLessThan(6)
    }
  }
  const [clear] = await made('png-fully-transparent')
  expect(meanOf(await shown((await render(clear!.bytes)).first.body))).toEqual([255, 255, 255])
})

test('7: a bomb is refused by its header, and the answer names limit and value', async () => {
  const bombs = [
    ...(await made('png-bomb', 'webp-bomb', 'jpeg-bomb')),
    ...real(
      ...['16383x16383.png', '16384x16384.png', 'webp-16383x16383.webp', 'progressive-16000x16000.jpg'],
      ...['bomb-30000x30000-1bit.png', '65536-uint32-limit.png', 'header-only-16000x16000.png'],
    ),
  ]
  for (const { name, bytes } of bombs) {
    // Nothing but the beginning is needed for it.
    const refusal = refusalOf(bytes.subarray(0, 4_096))
    expect(refusal, name).toMatchObject({ status: 422, code: 'too_many_pixels' })
    expect(refusal.message, name).toMatch(/\d{9,}/)
    expect(refusal.message, name).toContain(String(DEFAULT_LIMITS.maxPixels))
  }
  expect(ends).toEqual([])
})

test('8: too many frames are refused; of as many as may be, each is a frame, and none a strip', async () => {
  for (const { name, bytes } of [
    ...(await made('gif-too-many-frames')),
    ...real('gif-100000-frames-1x1.gif', 'bomb-gif-2000x2000-10000frames.gif'),
  ]) {
    expect(refusalOf(bytes).code, name).toMatch(/too_many_(frames|pixels)/)
  }
  for (const { bytes } of real('1024-pages.gif')) {
    const { facts, outputs } = await render(bytes, inFormats(['jpeg', 'webp', 'gif'], { animated: true }))
    expect(facts.pages).toBe(1_024)
    for (const output of outputs) expect(output).toMatchObject({ width: 1, height: 1 })
  }
})

test('9: a HEIC is refused at the upload by its name, also where it is called a JPEG', async () => {
  for (const { name, bytes } of [
    ...(await made('heic-sent-as-jpeg', 'hevc-in-avif-brands')),
    ...real('image.heic', 'samplefilehub.heif'),
  ]) {
    const refusal = refusalOf(bytes)
    expect(refusal, name).toMatchObject({ status: 415, code: 'unsupported_type' })
    expect(refusal.message, name).toMatch(/HEIC|HEVC/)
  }
})

test('10: what every browser shows is accepted, with a warning; and refused where strictness is asked for', async () => {
  for (const { name, bytes } of [
    ...(await made('jpeg-junk-between-markers', 'jpeg-without-end-marker')),
    ...real('junk_jpeg_header.jpg', 'jpeg_ff00_header.jpg', 'truncated-eoi-missing.jpg'),
    ...real('hopper_bad_exif.jpg', 'photoshop-200dpi-broken.jpg'),
  ]) {
    expect((await render(bytes)).codes, name).toContain('lenient_decode')
    const strictly = { ...DEFAULT_PLAN, strict: true }
    await expect(
      renderer.render(sourceOf(bytes), strictly, new AbortController().signal),
      name,
    ).rejects.toMatchObject({ name: 'PermanentError', code: 'not_strict' })
  }
})

test('11: what is cut off is refused, and no grey rest is shown as a picture', async () => {
  for (const { name, bytes } of [
    ...(await made('jpeg-truncated', 'jpeg-truncated-with-end-marker', 'png-data-missing-rows')),
    ...(await made('png-truncated', 'gif-truncated', 'webp-truncated', 'avif-truncated', 'tiff-truncated')),
    ...real('truncated-at-50pct.jpg', 'truncated_image.png', 'truncated-half.gif', 'cover.jpg'),
  ]) {
    await expect(render(bytes), name).rejects.toMatchObject({
      name: 'PermanentError',
      code: expect.stringMatching(/^(truncated|corrupt)$/),
    })
  }
})

test('12: no output holds where a picture was taken, or a thumbnail; a notice of copyright goes along when asked', async () => {
  const formats = inFormats(['jpeg', 'webp', 'avif', 'png'], { width: 100 })
  for (const { name, bytes } of [...(await made('jpeg-gps')), ...real('DSCN0010.jpg')]) {
    for (const keepCopyright of [false, true]) {
      const { outputs, facts } = await render(bytes, formats, { keepCopyright })
      expect(facts.gps, name).toBeUndefined()
      for (const { format, body } of outputs) {
        const { exif, xmp } = await sharp(body).metadata()
        expect(xmp, `${name} as ${format}`).toBeUndefined()
        // 8825 is the tag of the GPS directory, 0201 that of a thumbnail.
        expect(exif?.includes(Buffer.from('8825', 'hex')) ?? false, `${name} as ${format}`).toBe(false)
        expect(exif?.includes(Buffer.from('2588', 'hex')) ?? false, `${name} as ${format}`).toBe(false)
        if (!keepCopyright) expect(exif, `${name} as ${format}`).toBeUndefined()
      }
    }
    const told = await render(bytes, formats, {}, true)
    expect(told.facts.gps, name).toBeDefined()
  }
  const [notice] = await made('jpeg-gps')
  const kept = await render(notice!.bytes, formats, { keepCopyright: true })
  for (const { format, body } of kept.outputs) expect(Buffer.from(body).includes('img42'), format).toBe(true)
})

test('13: with linear light, fine detail of light and dark keeps the brightness that it has from afar', async () => {
  // Half of it lines of black and white, half of it the grey that gives as much light: 188 of 255.
  const [width, height] = [64, 32]
  const samples = Buffer.alloc(width * height * 3)
  for (let i = 0; i < width * height; i++) {
    const x = i % width
    samples.fill(x >= width / 2 ? 188 : (x % 2) * 255, 3 * i, 3 * i + 3)
  }
  const lines = await sharp(samples, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
  const contrast = async (linear: boolean) => {
    const { first } = await render(lines, [{ format: 'png', width: 32 }], { linear })
    const { rgb } = await shown(first.body)
    return Math.abs(rgb[(8 * 32 + 4) * 3]! - rgb[(8 * 32 + 28) * 3]!)
  }
  expect(await contrast(true)).toBeLessThan(6)
  expect(await contrast(false)).toBeGreaterThan(40)
  for (const { bytes } of real('gamma_dalai_lama_gray.jpg')) {
    const { first } = await render(bytes, [{ format: 'png', width: 129 }], { linear: true })
    expect(deviationOf(await shown(first.body))).toBeGreaterThan(12)
  }
})

test('14: a high dynamic range is mapped to the usual one, near its master, and told; so is the loss of a gain map', async () => {
  const twins = [
    await made('png-hdr-pq', 'png-opaque'),
    real('hdr_pq_cosmos12920.avif', 'sdr_cosmos12920.avif'),
  ].filter(({ length }) => length === 2)
  for (const [hdr, sdr] of twins) {
    const [seen, master] = await Promise.all([render(hdr!.bytes), render(sdr!.bytes)])
    const means = await Promise.all([seen, master].map(async ({ first }) => meanOf(await shown(first.body))))
    expect(furthest(means[0]!, means[1]!), hdr!.name).toBeLessThanOrEqual(25)
    expect(seen.codes, hdr!.name).toContain('hdr_lost')
  }
  for (const { bytes } of real('gain-map.jpg')) expect((await render(bytes)).codes).toContain('gain_map_lost')
})

test('15: an image is what its bytes are; a client that calls it otherwise is told, and HTML is refused', async () => {
  const api = await startApi({ limits: DEFAULT_LIMITS })
  try {
    for (const { name, bytes } of [
      ...(await made('jpeg-sent-as-png')),
      ...real('png-with-jpg-bytes.png', 'feature_detection.jpg'),
    ]) {
      const response = await api.post(bytes, { 'Content-Type': 'image/png' })
      expect(response.status, name).toBe(202)
      const warning = expect.objectContaining({ code: 'type_mismatch' })
      expect((await jsonOf(response)).warnings, name).toContainEqual(warning)
      expect((await render(bytes)).facts.type, name).toBe('image/jpeg')
    }
    for (const { bytes } of real('looks-like-svg.webp')) {
      expect((await render(bytes)).facts.type).toBe('image/webp')
    }
    for (const { name, bytes } of [...(await made('html-sent-as-png')), ...real('html-as-image.png')]) {
      const response = await api.post(bytes, { 'Content-Type': 'image/png' })
      expect(response.status, name).toBe(415)
      expect((await jsonOf(response)).detail, name).toContain('HTML')
    }
  } finally {
    await api.stop()
  }
})

// That such a job is charged, retried within its budget and FAILED then is shown in test/end-to-end.
test.skipIf(!HAS_PROC)(
  '16: an image that is never done is killed with its process, and others do not wait',
  async () => {
    const levels = Array.from(
      { length: 8 },
      (_, i) => `<g id="g${i + 1}">${`<use href="#g${i}"/>`.repeat(10)}</g>`,
    )
    const endless = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="60"><defs><rect id="g0" width="1" height="1"/>${levels.join('')}</defs><use href="#g8"/></svg>`,
    )
    const [good] = await made('jpeg-orientation-1')
    const deadline = new AbortController()
    const before = new Set(renderProcessesOf())
    const stuck = renderer.render(sourceOf(endless), DEFAULT_PLAN, deadline.signal)
    const [pid] = await Promise.any(
      [...before].map(async (pid) => [await isComputing(pid), pid].slice(1) as [number]),
    )
    await render(good!.bytes)
    deadline.abort(new Error('too late'))
    await expect(stuck).rejects.toThrow('too late')
    await expect.poll(() => ends).toMatchObject([{ killedFor: 'abandoned', signal: 'SIGKILL', pid }])
    console.log(`16: the process was gone ${ends[0]!.goneAfterMs} ms after its kill`)
    ends.length = 0
    await render(good!.bytes)
  },
)

test('17: an animated PNG is said to be one, and shows what a browser shows first', async () => {
  const [animated] = await made('png-animated')
  const seen = await render(animated!.bytes, [{ format: 'png' }])
  expect(seen.facts).toMatchObject({ pages: 3, durationMs: 300 })
  expect(seen.codes).toContain('apng_as_still')
  for (const { bytes } of real('ball.png')) {
    const ball = await render(bytes)
    expect(ball.facts).toMatchObject({ pages: 20, durationMs: 1_500, loop: 0 })
    expect(ball.codes).toContain('apng_as_still')
  }
  for (const { bytes } of real('single_frame_default.png')) {
    const [red, green] = meanOf(await shown((await render(bytes)).first.body))
    expect(green!).toBeGreaterThan(red!)
  }
})

test('18: an output is held to what its format can store, and told; no side is ever nothing', async () => {
  for (const { name, bytes } of [
    ...(await made('png-too-wide-for-webp')),
    ...real('20000x4.png', '65500x1.jpg'),
  ]) {
    const whole = await render(bytes, [{ format: 'webp' }])
    expect(whole.first.width, name).toBe(16_383)
    expect(whole.codes, name).toContain('output_clamped')
    const small = await render(bytes, inFormats(['jpeg', 'webp', 'png'], { width: 128, height: 128 }))
    for (const output of small.outputs) expect(output, name).toMatchObject({ width: 128, height: 1 })
  }
})

test('19: an SVG sees no file beside it, and no other tenant’s', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'img42-beside-'))
  try {
    const green = sharp({ create: { width: 100, height: 100, channels: 3, background: '#00ff00' } })
    const secret = path.join(folder, 'secret.png')
    writeFileSync(secret, await green.png().toBuffer())
    const own = [secret, `file://${secret}`].map((href) => ({
      name: href,
      bytes: Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="#ff0000"/><image href="${href}" width="100" height="100"/></svg>`,
      ),
    }))
    for (const { name, bytes } of own) {
      expect(meanOf(await shown((await render(bytes, [{ format: 'png' }])).first.body)), name).toEqual([
        255, 0, 0,
      ])
    }
    for (const { bytes } of real('svg-image-relative.svg')) {
      const [red, green] = meanOf(await shown((await render(bytes, [{ format: 'png' }])).first.body))
      expect(green! - red!).toBeLessThan(30)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

// 20, memory over 400 mixed images, is endurance.test.ts.

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
