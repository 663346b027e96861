/**
 * Draws `sample.jpg`, the image that `npm start` sends through: mountains at dusk, 1600 × 1067. Run by hand with
 * `node infra/embedded/make-sample.ts`; the picture is checked in, so that everybody's story shows the same one.
 */
import path from 'node:path'
import sharp from 'sharp'

const WIDTH = 1600
const HEIGHT = 1067
const RIDGES = 6

/** Chance that is the same on every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A ridge from edge to edge: a line whose middle is moved up or down, and each half's in turn, ever less. */
function ridge(random: () => number, left: number, right: number, roughness: number): number[] {
  let heights = [left, right]
  for (let move = roughness; heights.length < 400; move *= 0.52) {
    heights = heights.flatMap((height, i) => {
      const next = heights[i + 1]
      return next === undefined ? [height] : [height, (height + next) / 2 + (random() - 0.5) * move]
    })
  }
  return heights
}

function ridgePath(random: () => number, index: number): string {
  const depth = index / (RIDGES - 1)
  const base = HEIGHT * (0.52 + 0.36 * depth)
  const heights = ridge(random, base + (random() - 0.5) * 90, base + (random() - 0.5) * 90, 330 - 190 * depth)
  const line = heights.map((y, i) => `L${((i / (heights.length - 1)) * WIDTH).toFixed(1)} ${y.toFixed(1)}`)
  // Far ridges take the sky's colour, near ones the night's.
  const [hue, saturation, lightness] = [262 - 34 * depth, 38 - 6 * depth, 58 - 50 * depth]
  return `<path fill="hsl(${hue} ${saturation}% ${lightness}%)" d="M0 ${HEIGHT}${line.join('')}L${WIDTH} ${HEIGHT}Z"/>`
}

function stars(random: () => number): string {
  return Array.from({ length: 130 }, () => {
    const y = random() ** 2 * HEIGHT * 0.36
    const brightness = (0.25 + 0.65 * random()) * (1 - y / (HEIGHT * 0.42))
    return `<circle cx="${(random() * WIDTH).toFixed(1)}" cy="${y.toFixed(1)}" r="${(0.7 + random() * 1.1).toFixed(2)}" fill="#fff" opacity="${brightness.toFixed(2)}"/>`
  }).join('')
}

const random = seeded(42)
const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="0" y2="0.72">
      <stop offset="0" stop-color="#141a45"/>
      <stop offset="0.38" stop-color="#5a3f86"/>
      <stop offset="0.66" stop-color="#d9687f"/>
      <stop offset="0.86" stop-color="#f9a86b"/>
      <stop offset="1" stop-color="#fde0a1"/>
    </linearGradient>
    <radialGradient id="glow">
      <stop offset="0" stop-color="#fff3c4" stop-opacity="0.95"/>
      <stop offset="0.18" stop-color="#ffe2a0" stop-opacity="0.6"/>
      <stop offset="1" stop-color="#ffb37a" stop-opacity="0"/>
    </radialGradient>
  </defs>
  <rect width="100%" height="100%" fill="url(#sky)"/>
  ${stars(random)}
  <circle cx="1090" cy="600" r="430" fill="url(#glow)"/>
  <circle cx="1090" cy="600" r="62" fill="#fff4cf"/>
  ${Array.from({ length: RIDGES }, (_, index) => ridgePath(random, index)).join('\n  ')}
</svg>`

const file = path.join(import.meta.dirname, 'sample.jpg')
const { size } = await sharp(Buffer.from(picture)).jpeg({ quality: 84, mozjpeg: true }).toFile(file)
console.log(`${file}: ${WIDTH} × ${HEIGHT}, ${size} bytes`)
