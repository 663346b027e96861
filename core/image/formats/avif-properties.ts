import type { Limits } from '../../limits.ts'
import { ascii, view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { checkPixels } from '../limit-checks.ts'
import { corrupt } from '../verdict.ts'
import type { Box } from './iso-boxes.ts'

/** What an image item's property says, of those that are wanted here. */
export type Property =
  | { kind: 'size'; width: number; height: number }
  | { kind: 'crop'; width: number; height: number }
  | { kind: 'rotation'; quarterTurns: number }
  | { kind: 'channels'; channels: number; bitDepth: number }
  | { kind: 'codec'; channels: number; bitDepth: number }
  | { kind: 'cicp'; primaries: number; transfer: number }
  | { kind: 'alpha' }

/** Reads the property that `box` is; null for one that is not wanted. */
export function* readProperty(bytes: ForwardBytes, box: Box, limits: Limits): Parsing<Property | null> {
  const needed = NEEDED_BYTES[box.type]
  if (needed === undefined) return null
  const length = box.end - bytes.position
  if (length < needed) throw corrupt(`the AVIF’s box ${JSON.stringify(box.type)} is too short`)
  const data = yield* bytes.take(Math.min(length, MOST_BYTES))
  const numbers = view(data)
  switch (box.type) {
    case 'ispe': {
      const [width, height] = [numbers.getUint32(4), numbers.getUint32(8)]
      // Of every item, not of the one that is shown only: an alpha plane is decoded as well.
      checkPixels('an AVIF image', width, height, limits)
      return { kind: 'size', width, height }
    }
    case 'clap':
      return {
        kind: 'crop',
        width: Math.floor(numbers.getUint32(0) / numbers.getUint32(4)),
        height: Math.floor(numbers.getUint32(8) / numbers.getUint32(12)),
      }
    case 'irot':
      return { kind: 'rotation', quarterTurns: data[0]! & 3 }
    case 'pixi':
      return data[4]! > 0 && data.length > 5
        ? { kind: 'channels', channels: data[4]!, bitDepth: data[5]! }
        : null
    case 'av1C': {
      const flags = data[2]!
      const bitDepth = (flags & 0x40) === 0 ? 8 : (flags & 0x20) === 0 ? 10 : 12
      return { kind: 'codec', bitDepth, channels: (flags & 0x10) === 0 ? 3 : 1 }
    }
    case 'colr':
      return ascii(data, 0, 4) === 'nclx' && data.length >= 8
        ? { kind: 'cicp', primaries: numbers.getUint16(4), transfer: numbers.getUint16(6) }
        : null
    case 'auxC':
      return /:auxiliary:alpha\0|:auxid:1\0/.test(ascii(data, 4)) ? { kind: 'alpha' } : null
  }
  return null
}

/** How long each wanted property's box has to be at least. */
const NEEDED_BYTES: Record<string, number> = {
  ispe: 12,
  clap: 32,
  irot: 1,
  pixi: 5,
  av1C: 4,
  colr: 4,
  auxC: 5,
}

/** How much of a property is read at most: "colr" may be a whole profile. */
const MOST_BYTES = 64
