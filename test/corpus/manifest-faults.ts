import { difference, meanOf, type Shown } from '../../apps/worker/renderer/testing/pictures.ts'
import type { SourceFacts } from '../../core/ports/renderer.ts'
import type { SharedImage } from '../images.ts'
import type { Became } from './became.ts'

/** Where a rule of this service decides before, or otherwise than, what the manifest looks at. */
const POLICY: Record<string, { codes: string[]; because: string }> = {
  'header-only-16000x16000.png': {
    codes: ['too_many_pixels'],
    because: 'its pixels are over the limit, which its header tells before its missing data matters',
  },
  'svg-use-exponential.svg': {
    codes: ['corrupt'],
    because: 'librsvg counts what it draws and gives up, on a fast machine before the deadline',
  },
}

/** The manifest's kinds, by this service's codes. */
const REFUSALS: Record<string, string> = {
  EMPTY: 'empty_body',
  UNSUPPORTED_CODEC_HEVC: 'unsupported_type',
  UNSUPPORTED_FORMAT: 'unsupported_type',
}

/** Why what became of an image is right although the manifest says otherwise; empty where it does not. */
export function policyOn(name: string, became: Became): string {
  const policy = POLICY[name]
  return policy && became.kind !== 'rendered' && policy.codes.includes(became.code) ? policy.because : ''
}

/**
 * What is wrong, by the manifest, with what became of an image; empty for what is right.
 *
 * @param become for another image that it has to be the same picture as
 */
export async function manifestFaults(
  { name, rightOutcome }: SharedImage,
  became: Became,
  become: (twin: string) => Promise<Became>,
): Promise<string[]> {
  const codes = [
    ...(POLICY[name]?.codes ?? []),
    ...[...rightOutcome.matchAll(/(?:reject|or) ([A-Z_]+)/g)].map(
      ([, kind]) => REFUSALS[kind!] ?? kind!.toLowerCase(),
    ),
  ]
  if (became.kind !== 'rendered')
    return codes.includes(became.code) ? [] : [`${became.kind} as ${became.code}`]
  if (!rightOutcome.startsWith('accept') && !rightOutcome.includes('(or')) return ['accepted']
  const { picture, rendering } = became
  const [, width, height] = /accept (?:\(policy\) )?(\d+)x(\d+)/.exec(rightOutcome) ?? []
  const [, mean, within] = /mean~([\d,]+)±(\d+)/.exec(rightOutcome) ?? []
  const [, twin] = /same picture as (\S+)/.exec(rightOutcome) ?? []
  return [
    ...(width && height ? sizeFaults(picture, Number(width), Number(height)) : []),
    ...(mean ? meanFaults(picture, mean.split(',').map(Number), Number(within)) : []),
    ...factFaults(rendering.facts, rightOutcome),
    ...(twin && twin !== name ? twinFaults(picture, twin, await become(twin)) : []),
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

function twinFaults(picture: Shown, twin: string, other: Became): string[] {
  const off = other.kind === 'rendered' ? difference(picture, other.picture) : Number.POSITIVE_INFINITY
  return off >= 3 ? [`differs from ${twin} by ${off.toFixed(1)}`] : []
}
