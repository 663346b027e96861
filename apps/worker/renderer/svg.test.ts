import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../core/limits.ts'
import { factsOf, refusalOf } from '../../../test/images/inspect.ts'
import { DEFAULT_PLAN } from '../../../test/job-result.ts'
import { type Decoded, decode } from './decode.ts'
import { openRenderer } from './pool.ts'
import { middleOf } from './testing/decoded.ts'
import { HAS_PROC, isComputing, renderProcessesOf } from './testing/processes.ts'
import { sourceOf } from './testing/source.ts'

const LIMITS = { ...DEFAULT_LIMITS, acceptSvg: true }

/** An SVG of 100 × 60 around `body`. */
function svg(body: string, prologue = ''): Buffer {
  const root = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
  return Buffer.from(`${prologue}${root} width="100" height="60">${body}</svg>`)
}

function drawn(original: Buffer, limits = LIMITS): Promise<Decoded> {
  const choose = ({ width, height }: { width: number; height: number }) => ({ width, height, frames: 1 })
  return decode(original, factsOf(original, limits), limits, choose, { linear: false })
}

function alphaInTheMiddle({ picture: { width, height, data } }: Decoded): number {
  return data[(Math.floor(height / 2) * width + Math.floor(width / 2)) * 4 + 3]!
}

beforeAll(() => {
  sharp.block({ operation: ['VipsForeignLoadSvg'] })
})

describe('SVG', () => {
  it('is refused by its name unless an operator turned it on', () => {
    const refused = {
      code: 'unsupported_type',
      message: expect.stringMatching(/the body is SVG; accepted are JPEG/),
    }
    expect(refusalOf(svg(''))).toMatchObject(refused)
    expect(refusalOf(svg(''), { ...DEFAULT_LIMITS, acceptSvg: false })).toMatchObject(refused)
  })

  it.each<[what: string, image: Buffer]>([
    ['as it is', svg('<rect width="100" height="60" fill="#2040c0"/>')],
    [
      'with a script, which does nothing',
      svg('<script>document.title=1</script><rect width="100" height="60" fill="#2040c0" onload="x()"/>'),
    ],
    [
      'in UTF-16',
      Buffer.from(
        `\uFEFF${svg('<rect width="100" height="60" fill="#2040c0"/>', '<?xml version="1.0" encoding="UTF-16"?>')}`,
        'utf16le',
      ),
    ],
    [
      'with entities of its own',
      svg('<rect width="100" height="60" fill="&c;"/>', '<!DOCTYPE svg [<!ENTITY c "#2040c0">]>'),
    ],
  ])('is drawn %s', async (_, image) => {
    const seen = await drawn(image)
    expect(seen.picture).toMatchObject({ width: 100, height: 60, channels: 4 })
    expect(middleOf(seen)).toEqual([0x20, 0x40, 0xc0])
  })

  it('leaves its loader blocked behind it', async () => {
    await drawn(svg(''))
    await expect(sharp(svg('')).raw().toBuffer()).rejects.toThrow(/unsupported image format/)
    await expect(drawn(svg('<g'))).rejects.toMatchObject({ code: 'corrupt' })
    await expect(sharp(svg('')).raw().toBuffer()).rejects.toThrow(/unsupported image format/)
  })

  it.each([
    ['width="2000" height="1000"', 2_000, 1_000],
    ['width="2in" height="1in" viewBox="0 0 9 9"', 192, 96],
    ["viewBox='0 0 640 480'", 640, 480],
    ['viewBox="0,0,640,480" width="320"', 320, 240],
    ['viewBox="0 0 640 480" width="100%" height="100%"', 640, 480],
    ['', 300, 150],
  ])('tells its size by %s', (attributes, width, height) => {
    const image = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}/>`)
    expect(factsOf(image, LIMITS)).toMatchObject({ type: 'svg', width, height })
  })

  it('of more pixels than the limit is refused, whether it says them or only draws them', async () => {
    const said = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="20000"/>')
    expect(refusalOf(said, LIMITS)).toMatchObject({ code: 'too_many_pixels' })
    const only = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg"><rect width="20000" height="20000"/></svg>',
    )
    await expect(drawn(only)).rejects.toMatchObject({ name: 'PermanentError', code: 'too_many_pixels' })
  })

  it('whose entities grow without end is refused', async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`)
    const laughs = svg('<text>&e9;</text>', `<!DOCTYPE svg [<!ENTITY e0 "ha">${levels.join('')}]>`)
    await expect(drawn(laughs)).rejects.toMatchObject({ name: 'PermanentError', code: 'corrupt' })
  })

  it.skipIf(!HAS_PROC)('that never ends to be drawn dies with its process at the deadline', async () => {
    const levels = Array.from(
      { length: 8 },
      (_, i) => `<g id="g${i + 1}">${`<use xlink:href="#g${i}"/>`.repeat(10)}</g>`,
    )
    const bomb = svg(
      `<defs><rect id="g0" width="1" height="1"/>${levels.join('')}</defs><use xlink:href="#g8"/>`,
    )
    const renderer = await openRenderer({ concurrency: 1, limits: LIMITS, onProcessEnd: () => {} })
    try {
      const deadline = new AbortController()
      const rendering = renderer.render(sourceOf(bomb), DEFAULT_PLAN, deadline.signal)
      const [pid] = renderProcessesOf()
      await isComputing(pid!)
      deadline.abort(new Error('too late'))
      await expect(rendering).rejects.toThrow('too late')
      const next = await renderer.render(
        sourceOf(svg('<rect width="9" height="9"/>')),
        DEFAULT_PLAN,
        new AbortController().signal,
      )
      expect(next.facts).toMatchObject({ type: 'image/svg+xml', width: 100, height: 60 })
    } finally {
      await renderer.close()
    }
  })
})

describe('what an SVG points to', () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end()
  })
  let folder = ''
  let png = ''
  let address = ''

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'img42-svg-'))
    png = path.join(folder, 'secret.png')
    writeFileSync(
      png,
      await sharp({ create: { width: 100, height: 60, channels: 3, background: '#00ff00' } })
        .png()
        .toBuffer(),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })

  it.each([
    ['a file by its path', () => `<image href="${png}" width="100" height="60"/>`],
    ['a file by its address', () => `<image xlink:href="file://${png}" width="100" height="60"/>`],
    ['an image of the network', () => `<image href="${address}/a.png" width="100" height="60"/>`],
    ['another SVG', () => `<use xlink:href="${address}/b.svg#x"/>`],
    [
      'a stylesheet',
      () => `<style>@import url(${address}/c.css); rect { fill: url(${address}/d.svg#p) }</style>`,
    ],
  ])('is not read: %s', async (_, body) => {
    expect(alphaInTheMiddle(await drawn(svg(body())))).toBe(0)
    expect(asked).toEqual([])
  })

  it('is not read: an entity of a file or of the network', async () => {
    for (const uri of [`file://${png}`, `${address}/e`]) {
      const image = svg('<text y="30">&x;</text>', `<!DOCTYPE svg [<!ENTITY x SYSTEM "${uri}">]>`)
      const failure = await drawn(image).catch((error: unknown) => error)
      expect(failure).toMatchObject({ name: 'PermanentError', code: 'corrupt' })
    }
    const outside = svg('<rect width="100" height="60"/>', `<!DOCTYPE svg SYSTEM "${address}/f.dtd">`)
    await drawn(outside)
    expect(asked).toEqual([])
  })

  it('but what it carries itself is', async () => {
    const data = (await sharp(png).png().toBuffer()).toString('base64')
    const seen = await drawn(svg(`<image href="data:image/png;base64,${data}" width="100" height="60"/>`))
    expect(middleOf(seen)).toEqual([0, 255, 0])
  })
})
