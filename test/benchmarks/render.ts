// What rendering costs: `node test/benchmarks/render.ts`. CPU time of the rendering process for each job, beside bare
// sharp in this process making the same thumbnail, in milliseconds: the least and the median of 20, which say what the
// work takes, and what it takes on a machine that does other things too. Linux only, for it reads /proc.
import { readdirSync, readFileSync } from 'node:fs'
import sharp from 'sharp'
import { openRenderer } from '../../apps/worker/renderer/pool.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import type { RenderPlan } from '../../core/ports/renderer.ts'
import { DEFAULT_PRESET, type OutputPlan } from '../../core/preset.ts'
import { film, picture } from '../images/picture.ts'

const JOBS = 20

const SIX_MEGAPIXELS = { width: 3_000, height: 2_000 }
const ANIMATION = { width: 320, height: 213 }

const thumbnail = DEFAULT_PRESET.outputs[0]!
const planOf = (asked: Partial<OutputPlan>[], linear = false): RenderPlan => ({
  preset: { ...DEFAULT_PRESET, linear, outputs: asked.map((output) => ({ ...thumbnail, ...output })) },
  strict: false,
  exposeGps: false,
})

/** The time on a processor of all threads so far, in milliseconds; of one that ended, no longer. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e6
}

function descendantsOf(pid: number): number[] {
  const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean)
  return own.map(Number).flatMap((child) => [child, ...descendantsOf(child)])
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function bareSharp(original: Buffer): Promise<void> {
  await sharp(original, { autoOrient: true })
    .resize({ width: 320, height: 320, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 80 })
    .toBuffer()
}

/** The CPU milliseconds of a job: the least and the median of {@link JOBS}. */
async function measure(cpu: () => number, job: () => Promise<unknown>): Promise<string> {
  for (let i = 0; i < 3; i++) await job()
  const spent: number[] = []
  for (let i = 0; i < JOBS; i++) {
    const began = cpu()
    await job()
    spent.push(cpu() - began)
  }
  spent.sort((a, b) => a - b)
  return [spent[0]!, spent[JOBS / 2]!].map((ms) => ms.toFixed(1).padStart(7)).join('')
}

sharp.concurrency(1)
sharp.cache(false)
const photograph = await picture(SIX_MEGAPIXELS).jpeg({ quality: 92 }).toBuffer()
const animation = await film(ANIMATION, 20).gif().toBuffer()
const renderer = await openRenderer({ concurrency: 1, limits: DEFAULT_LIMITS })
const children = descendantsOf(process.pid)
const childCpu = () => children.reduce((sum, pid) => sum + cpuOf(pid), 0)

async function inChild(what: string, original: Buffer, plan: RenderPlan): Promise<void> {
  const render = () =>
    renderer.render({ body: once(original), bytes: original.length }, plan, new AbortController().signal)
  const cpu = await measure(childCpu, render)
  const { cost, outputs } = await render()
  const bytes = outputs.map(({ format, body }) => `${format} ${body.byteLength}`).join(', ')
  const steps = [cost.decodeMs, cost.resizeMs, cost.encodeMs].map((ms) => ms.toFixed(1)).join(' + ')
  console.log(`${what.padEnd(44)} ${cpu}   ${steps} ms   ${bytes}`)
}

try {
  console.log(
    `a JPEG of 6 megapixels, ${photograph.length} bytes; a GIF of 20 frames, ${animation.length} bytes`,
  )
  console.log(`${'CPU a job in ms: least, median'.padEnd(58)}   decode + resize + encode (wall clock)`)
  const bare = await measure(
    () => cpuOf(process.pid),
    () => bareSharp(photograph),
  )
  console.log(`${'bare sharp, 320 × 320 inside'.padEnd(44)} ${bare}`)
  await inChild('the default preset', photograph, planOf([{}]))
  await inChild('auto without AVIF', photograph, planOf([{ format: 'auto' }]))
  await inChild('auto with AVIF', photograph, planOf([{ format: 'auto', avif: true }]))
  await inChild(
    'three sizes',
    photograph,
    planOf([{ name: 's', width: 160 }, {}, { name: 'l', width: 1_280, height: 1_280 }]),
  )
  await inChild('cover by attention', photograph, planOf([{ fit: 'cover', position: 'attention' }]))
  await inChild('in linear light', photograph, planOf([{}], true))
  await inChild('an animation as WebP', animation, planOf([{ format: 'webp', animated: true, width: 160 }]))
  await inChild('an animation as GIF', animation, planOf([{ format: 'gif', animated: true, width: 160 }]))
} finally {
  await renderer.close()
}
