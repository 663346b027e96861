import type { Limits } from '../../limits.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { checkPixels } from '../limit-checks.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts } from '../verdict.ts'

/**
 * SVG: its root element's size. One that is said in no other way than by what is drawn is taken for 300 × 150, as CSS
 * does; the renderer measures it, and holds it to the same limit.
 */
export function* parseSvg(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  const { width, height } = sizeOf(yield* readRoot(bytes))
  checkPixels('an SVG', width, height, limits)
  return {
    type: 'svg',
    contentType: IMAGE_TYPES.svg.contentType,
    width,
    height,
    orientation: 1,
    animated: false,
    frames: 1,
    channels: 4,
    alpha: true,
    bitDepth: 8,
  }
}

/** The root element's tag. Of UTF-16 the zeros are left out, which leaves what is looked for. */
function* readRoot(bytes: ForwardBytes): Parsing<string> {
  let text = ''
  while (text.length < MOST_CHARACTERS) {
    const byte = (yield* bytes.take(1))[0]!
    if (byte !== 0) text += String.fromCharCode(byte)
    if (byte !== GREATER_THAN) continue
    const root = /<(?:\w+:)?svg\b[^<]*>$/.exec(text)
    if (root) return root[0]
  }
  throw corrupt(`the SVG’s root element does not end within ${MOST_CHARACTERS} characters`)
}

function sizeOf(root: string): { width: number; height: number } {
  const width = length(attribute(root, 'width'))
  const height = length(attribute(root, 'height'))
  const box = attribute(root, 'viewBox')
    ?.split(/[\s,]+/)
    .map(Number)
  const [boxWidth, boxHeight] = box?.length === 4 && box[2]! > 0 && box[3]! > 0 ? box.slice(2) : []
  const ratio = boxWidth && boxHeight ? boxWidth / boxHeight : undefined
  const [wide, high] = [
    width ?? (height && ratio ? height * ratio : boxWidth),
    height ?? (width && ratio ? width / ratio : boxHeight),
  ]
  return { width: Math.ceil(wide ?? 300), height: Math.ceil(high ?? 150) }
}

function attribute(root: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(root)
  return (found?.[1] ?? found?.[2])?.trim()
}

/** In pixels; undefined for what depends on the page around it. */
function length(value: string | undefined): number | undefined {
  const found = /^([\d.]+(?:e[+-]?\d+)?)(px|pt|pc|in|cm|mm|em|ex)?$/i.exec(value ?? '')
  const pixels = Number(found?.[1]) * (PIXELS[found?.[2]?.toLowerCase() ?? 'px'] ?? 1)
  return Number.isFinite(pixels) ? pixels : undefined
}

const PIXELS: Record<string, number> = {
  px: 1,
  pt: 96 / 72,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  em: 16,
  ex: 8,
}
const GREATER_THAN = 0x3e
const MOST_CHARACTERS = 16_384
