import sharp, { type Sharp } from 'sharp'
import { proPhotoProfile, withProfile } from '../../apps/worker/renderer/testing/icc-profile.ts'
import { renderPlan } from '../../apps/worker/renderer/testing/plans.ts'
import { sourceOf } from '../../apps/worker/renderer/testing/source.ts'
import { taggedPng } from '../../apps/worker/renderer/testing/tagged-png.ts'
import type { RenderedOutput, Renderer } from '../../core/ports/renderer.ts'
import type { OutputPlan, Preset } from '../../core/preset.ts'
import { picture } from '../images/picture.ts'
import { type TestImageName, testImage } from '../images.ts'

/** A table of pictures: each row an image, each column what is to be compared. */
export interface Sheet {
  title: string
  /** What is to be seen. */
  text: string
  columns: string[]
  rows: { label: string; cells: Picture[] }[]
}

/** As it stands in the page, with the bytes of a file of its own. */
export interface Picture {
  file: string
  bytes: Buffer
}

const SIZE = { width: 480, height: 320 }
const SMALL = { width: 180, height: 180 }

/** All sheets. What is called an output comes from `renderer`, byte for byte unless its column says otherwise. */
export async function makeSheets(renderer: Renderer): Promise<Sheet[]> {
  return [
    await orientation(),
    await colour(),
    await transparency(),
    await animation(),
    await fits(),
    await linearLight(),
  ]

  async function outputs(
    bytes: Buffer,
    asked: Partial<OutputPlan>[],
    preset: Partial<Preset> = {},
  ): Promise<RenderedOutput[]> {
    const plan = renderPlan(
      asked.map((output) => ({ ...SMALL, ...output })),
      preset,
    )
    return (await renderer.render(sourceOf(bytes), plan, new AbortController().signal)).outputs
  }

  async function output(bytes: Buffer, asked: Partial<OutputPlan>, preset: Partial<Preset> = {}) {
    return (await outputs(bytes, [asked], preset))[0]!
  }

  async function orientation(): Promise<Sheet> {
    const names: TestImageName[] = [
      ...([1, 2, 3, 4, 5, 6, 7, 8] as const).map((value) => `jpeg-orientation-${value}` as const),
      ...([
        'jpeg-orientation-invalid',
        'png-orientation-6',
        'webp-orientation-6',
        'tiff-orientation-6',
      ] as const),
    ]
    const rows = names.map(async (name) => {
      const { bytes } = await testImage(name)
      return {
        label: name,
        cells: [
          await file(`${name}-stored.jpg`, asStored(bytes)),
          written(`${name}-output`, await output(bytes, { format: 'jpeg' })),
        ],
      }
    })
    const { bytes } = await testImage('avif-rotated')
    const rotated = {
      label: 'avif-rotated, by `irot`',
      cells: [
        // Decoders turn it by themselves: this is how it was stored.
        await file('avif-rotated-stored.jpg', picture(SIZE).rotate(90)),
        written('avif-rotated-output', await output(bytes, { format: 'jpeg' })),
      ],
    }
    return {
      title: 'Orientation',
      text: 'Stored turned and mirrored, as cameras do; each output is the same upright picture, and says nothing of an orientation.',
      columns: ['as it is stored', 'output'],
      rows: [...(await Promise.all(rows)), rotated],
    }
  }

  async function colour(): Promise<Sheet> {
    const plain = await picture(SIZE).png().toBuffer()
    const rows: [label: string, bytes: Buffer, master: Buffer][] = [
      ['CMYK without a profile', (await testImage('jpeg-cmyk')).bytes, plain],
      ['Display P3 by its profile', (await testImage('png-display-p3')).bytes, plain],
      [
        'ProPhoto’s primaries by a profile, of colours within sRGB',
        withProfile(await asProPhoto(), proPhotoProfile()),
        plain,
      ],
      ['16 bits a sample', (await testImage('png-16-bit')).bytes, plain],
      ['grey', (await testImage('jpeg-grey')).bytes, await picture(SIZE).greyscale().png().toBuffer()],
      [
        'PQ, for screens of a high dynamic range: tone-mapped, so that white leaves room for light beyond it',
        (await testImage('png-hdr-pq')).bytes,
        plain,
      ],
      [
        'a profile that is damaged: left out, with a warning',
        withProfile(plain, Buffer.from('no profile')),
        plain,
      ],
      [
        'pure green of BT.2020 by its tag: moved to the edge of sRGB',
        await taggedPng([0, 1, 0], { primaries: 9, transfer: 13 }),
        await plainColour('#00ff00'),
      ],
    ]
    return {
      title: 'Colour',
      text: 'What the file’s numbers look like when they are taken for sRGB, what comes out, and the picture that the file was made from. The last two are to look alike, as far as sRGB, and a press, allow.',
      columns: ['its numbers taken for sRGB', 'output', 'made from'],
      rows: await Promise.all(
        rows.map(async ([label, bytes, master], i) => ({
          label,
          cells: [
            await file(`colour-${i + 1}-numbers.jpg`, withoutItsColours(bytes)),
            written(`colour-${i + 1}-output`, await output(bytes, { format: 'jpeg' })),
            await file(`colour-${i + 1}-master.jpg`, sharp(master)),
          ],
        })),
      ),
    }
  }

  async function transparency(): Promise<Sheet> {
    const names: TestImageName[] = [
      ...([
        'png-alpha',
        'png-palette-transparent',
        'png-grey-alpha',
        'webp-lossless-alpha',
        'avif-alpha',
      ] as const),
      ...(['tiff-alpha', 'png-fully-transparent'] as const),
    ]
    const rows = names.map(async (name) => {
      const { bytes } = await testImage(name)
      const [white, blue, png, webp] = await outputs(bytes, [
        { name: 'white', format: 'jpeg' },
        { name: 'blue', format: 'jpeg', background: '#2040c0' },
        { name: 'png', format: 'png' },
        { name: 'webp', format: 'webp' },
      ])
      return {
        label: name,
        cells: [
          await file(`${name}-input.jpg`, await onCheckers(bytes)),
          written(`${name}-white`, white!),
          written(`${name}-blue`, blue!),
          await file(`${name}-png.jpg`, await onCheckers(Buffer.from(png!.body))),
          await file(`${name}-webp.jpg`, await onCheckers(Buffer.from(webp!.body))),
        ],
      }
    })
    return {
      title: 'Transparency',
      text: 'On a chequered ground where it is kept. A JPEG shows it on white, or on the background that was asked for, and never on black.',
      columns: ['input', 'JPEG', 'JPEG on `#2040c0`', 'PNG', 'WebP'],
      rows: await Promise.all(rows),
    }
  }

  async function animation(): Promise<Sheet> {
    const names: TestImageName[] = ['gif-animated', 'webp-animated', 'png-animated']
    const rows = names.map(async (name) => {
      const { bytes } = await testImage(name)
      const [webp, gif, poster] = await outputs(bytes, [
        { name: 'webp', format: 'webp', animated: true, width: 90, height: 90 },
        { name: 'gif', format: 'gif', animated: true, width: 90, height: 90 },
        { name: 'poster', format: 'jpeg', width: 90, height: 90 },
      ])
      return {
        label: name,
        cells: [
          await file(`${name}-frames.jpg`, await frames(bytes)),
          written(`${name}-webp`, webp!),
          await file(`${name}-webp-frames.jpg`, await frames(Buffer.from(webp!.body))),
          written(`${name}-gif`, gif!),
          written(`${name}-poster`, poster!),
        ],
      }
    })
    return {
      title: 'Animation',
      text: 'The frames side by side, and the animations themselves. A still format shows the first frame. Of an animated PNG only that is read, and the job says so.',
      columns: ['frames of the input', 'WebP', 'its frames', 'GIF', 'JPEG'],
      rows: await Promise.all(rows),
    }
  }

  async function fits(): Promise<Sheet> {
    const bytes = await picture(SIZE).jpeg().toBuffer()
    const box = { width: 120, height: 120, format: 'jpeg' } as const
    const asked: [label: string, plan: Partial<OutputPlan>][] = [
      ['`inside`', { fit: 'inside' }],
      ['`cover`, `centre`', { fit: 'cover' }],
      ['`cover`, `west`', { fit: 'cover', position: 'west' }],
      ['`cover`, `attention`', { fit: 'cover', position: 'attention' }],
      ['`cover`, `{ "x": 0.7, "y": 0.25 }`', { fit: 'cover', position: { x: 0.7, y: 0.25 } }],
      ['`contain`, `#2040c0`', { fit: 'contain', background: '#2040c0' }],
      ['`contain`, `north`', { fit: 'contain', position: 'north', background: '#2040c0' }],
    ]
    return {
      title: 'Fits',
      text: 'The same picture of 480 × 320, in 120 × 120.',
      columns: ['output'],
      rows: await Promise.all(
        asked.map(async ([label, plan], i) => ({
          label,
          cells: [written(`fit-${i + 1}`, await output(bytes, { ...box, ...plan }))],
        })),
      ),
    }
  }

  async function linearLight(): Promise<Sheet> {
    const bytes = await lines()
    const half = { format: 'png', width: 120, height: 60 } as const
    return {
      title: 'Linear light',
      text: 'Lines of black and white beside the grey that sends out as much light (188), made half as large. In linear light both sides have the same brightness.',
      columns: ['input', 'default', '`linear`'],
      rows: [
        {
          label: 'lines',
          cells: [
            { file: 'linear-input.png', bytes },
            written('linear-off', await output(bytes, half)),
            written('linear-on', await output(bytes, half, { linear: true })),
          ],
        },
      ],
    }
  }
}

/** An output as it is. */
function written(name: string, { format, body }: RenderedOutput): Picture {
  return { file: `${name}.${format === 'jpeg' ? 'jpg' : format}`, bytes: Buffer.from(body) }
}

/** Made for the page, by nothing of the service. */
async function file(name: string, image: Sharp): Promise<Picture> {
  const bytes = await image
    .resize({ ...SMALL, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 85 })
    .toBuffer()
  return { file: name, bytes }
}

function asStored(bytes: Buffer): Sharp {
  return sharp(bytes, { autoOrient: false }).toColourspace('srgb')
}

/** Of inks, as much of light as they leave: what a program shows that knows nothing of inks. */
function withoutItsColours(bytes: Buffer): Sharp {
  return sharp(bytes, { ignoreIcc: true }).toColourspace('srgb')
}

async function onCheckers(bytes: Buffer): Promise<Sharp> {
  const small = await sharp(bytes)
    .resize({ ...SMALL, fit: 'inside', withoutEnlargement: true })
    .png()
    .toBuffer()
  const { width, height } = await sharp(small).metadata()
  const ground = Buffer.alloc(width * height * 3)
  for (let i = 0; i < width * height; i++) {
    const dark = (Math.floor((i % width) / 8) + Math.floor(i / width / 8)) % 2
    ground.fill(dark ? 180 : 240, 3 * i, 3 * i + 3)
  }
  const png = await sharp(ground, { raw: { width, height, channels: 3 } })
    .composite([{ input: small }])
    .png()
    .toBuffer()
  return sharp(png)
}

/** The frames beside each other. */
async function frames(bytes: Buffer): Promise<Sharp> {
  const { pages = 1, width, pageHeight, height } = await sharp(bytes, { animated: true }).metadata()
  const [w, h] = [Math.round(width / 2), Math.round((pageHeight ?? height) / 2)]
  const input = await Promise.all(
    Array.from({ length: pages }, async (_, page) => ({
      input: await sharp(bytes, { page }).resize(w, h).png().toBuffer(),
      left: page * (w + 2),
      top: 0,
    })),
  )
  const strip = sharp({ create: { width: pages * (w + 2), height: h, channels: 3, background: '#ffffff' } })
  return sharp(await strip.composite(input).png().toBuffer())
}

/** The picture's colours in ProPhoto's numbers: through linear light, by the primaries of both. */
async function asProPhoto(): Promise<Buffer> {
  const { data, info } = await picture(SIZE).raw().toBuffer({ resolveWithObject: true })
  for (let at = 0; at < data.length; at += 3) {
    const [r, g, b] = [0, 1, 2].map((i) => linear(data[at + i]! / 255)) as [number, number, number]
    for (const [i, row] of SRGB_TO_PROPHOTO.entries()) {
      const light = Math.max(0, row[0] * r + row[1] * g + row[2] * b)
      data[at + i] = Math.round(255 * light ** (1 / 1.8))
    }
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } })
    .png()
    .toBuffer()
}

function linear(signal: number): number {
  return signal <= 0.04045 ? signal / 12.92 : ((signal + 0.055) / 1.055) ** 2.4
}

const SRGB_TO_PROPHOTO = [
  [0.5293, 0.33, 0.1407],
  [0.0983, 0.8735, 0.0282],
  [0.0168, 0.1176, 0.8656],
] as const

function plainColour(background: string): Promise<Buffer> {
  return sharp({ create: { width: 16, height: 16, channels: 3, background } })
    .png()
    .toBuffer()
}

function lines(): Promise<Buffer> {
  const [width, height] = [240, 120]
  const samples = Buffer.alloc(width * height)
  for (let i = 0; i < width * height; i++) {
    const x = i % width
    samples[i] = x >= width / 2 ? 188 : (x % 2) * 255
  }
  return sharp(samples, { raw: { width, height, channels: 1 } })
    .toColourspace('srgb')
    .png()
    .toBuffer()
}
