import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { PermanentError } from '../../../core/errors.ts'

/**
 * The first frame of an animated PNG whose default image is no frame of the animation, as a PNG of its own: what a browser
 * shows first. Decoders that know nothing of animations show the default image instead.
 *
 * @param apng has been inspected: its chunks are whole
 */
export async function firstFrame(apng: Buffer): Promise<Buffer> {
  const header = Buffer.from(apng.subarray(IHDR, IHDR + 13))
  const canvas = { width: header.readUInt32BE(0), height: header.readUInt32BE(4) }
  const shared: Buffer[] = []
  const frame: Buffer[] = []
  let control: Control | null = null
  for (const { type, data } of chunks(apng)) {
    if (type === 'fcTL') {
      // The second frame's: the first is whole.
      if (control) break
      control = readControl(data, canvas)
    } else if (type === 'fdAT') {
      if (!control || data.length < 4)
        throw new PermanentError('corrupt', 'the PNG has a frame’s data where none should be')
      frame.push(chunk('IDAT', data.subarray(4)))
    } else if (SHARED.includes(type)) {
      shared.push(chunk(type, data))
    }
  }
  if (!control || frame.length === 0)
    throw new PermanentError('corrupt', 'the PNG is animated and has no frame')
  header.writeUInt32BE(control.width, 0)
  header.writeUInt32BE(control.height, 4)
  const still = Buffer.concat([
    apng.subarray(0, SIGNATURE),
    chunk('IHDR', header),
    ...shared,
    ...frame,
    chunk('IEND', Buffer.alloc(0)),
  ])
  return control.width === canvas.width && control.height === canvas.height
    ? still
    : onCanvas(still, control, canvas)
}

interface Control {
  width: number
  height: number
  left: number
  top: number
}

function readControl(data: Buffer, canvas: { width: number; height: number }): Control {
  if (data.length !== 26) throw new PermanentError('corrupt', 'the PNG has a frame without a valid header')
  const [width, height, left, top] = [4, 8, 12, 16].map((at) => data.readUInt32BE(at)) as [
    number,
    number,
    number,
    number,
  ]
  if (width === 0 || height === 0 || left + width > canvas.width || top + height > canvas.height) {
    throw new PermanentError('corrupt', 'the PNG has a frame that does not lie within its canvas')
  }
  return { width, height, left, top }
}

/** A frame that is smaller stands on a canvas that is transparent at first. */
function onCanvas(
  still: Buffer,
  { left, top, width, height }: Control,
  canvas: { width: number; height: number },
): Promise<Buffer> {
  return sharp(still, { failOn: 'warning', ignoreIcc: true })
    .ensureAlpha()
    .extend({
      left,
      top,
      right: canvas.width - left - width,
      bottom: canvas.height - top - height,
      background: { r: 0, g: 0, b: 0, alpha: 0 },
    })
    .keepIccProfile()
    .png({ compressionLevel: 1 })
    .toBuffer()
}

function* chunks(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at)
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) }
    at += 12 + length
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}

/** What of the file speaks of every frame. */
const SHARED = ['PLTE', 'tRNS', 'iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'eXIf', 'sBIT', 'pHYs']
const SIGNATURE = 8
const IHDR = SIGNATURE + 8
