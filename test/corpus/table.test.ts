import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRenderer, type ProcessRenderer } from '../../apps/worker/renderer/pool.ts'
import type { ProcessEnd } from '../../apps/worker/renderer/render-process.ts'
import { HAS_PROC, isGone, renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { DEFAULT_LIMITS, type Limits } from '../../core/limits.ts'
import { sharedImages, sharedImagesCount, type TestImage, testImages } from '../images.ts'
import { DEFAULT_PLAN } from '../job-result.ts'
import { type Became, becomeOf, shortly } from './became.ts'
import { manifestFaults, policyOn } from './manifest-faults.ts'

// Every image there is, one after the other through one rendering process, and a table of what became of each.

const { images: shared, absent } = sharedImages()
const made = await testImages()
const isSvg = (name: string) => /\.svgz?$/.test(name)

const SVG_ON: Limits = { ...DEFAULT_LIMITS, acceptSvg: true }

interface Row {
  file: string
  expected: string
  wrong: string[]
  got: string
  policy: string
  seconds: number
  /** The most that the process ever held for it; null where none was asked, or none can say. */
  peakBytes: number | null
}

const rows: Row[] = []
/** Of processes that ended before their pool was closed. */
const ends: ProcessEnd[] = []
const seen = new Set<number>()
let renderer: ProcessRenderer
let limits: Limits

/** For the tests of one group. One process at a time: the others' memory is no image's. */
function renderWith(given: Limits): void {
  beforeAll(async () => {
    limits = given
    const onProcessEnd = (end: ProcessEnd) => end.killedFor !== 'closed' && ends.push(end)
    renderer = await openRenderer({ concurrency: 1, limits, onProcessEnd })
  })
  afterAll(() => renderer.close())
}

afterAll(() => console.log(asTable().join('\n')))

const become = (bytes: Buffer) => becomeOf(renderer, bytes, DEFAULT_PLAN, limits)

async function rowOf(
  file: string,
  expected: string,
  bytes: Buffer,
  faults: (became: Became) => string[] | Promise<string[]>,
  policy = (_: Became) => '',
): Promise<Row> {
  const pids = HAS_PROC ? renderProcessesOf() : []
  for (const pid of pids) forgetPeak(pid)
  const before = performance.now()
  const became = await become(bytes)
  const seconds = (performance.now() - before) / 1_000
  const peaks = pids.map(peakOf).filter((bytes) => bytes !== null)
  for (const pid of HAS_PROC ? renderProcessesOf() : []) seen.add(pid)
  const row = {
    ...{ file, expected, seconds, got: shortly(became), wrong: await faults(became) },
    policy: policy(became),
    peakBytes: became.kind === 'refused' || peaks.length === 0 ? null : Math.max(...peaks),
  }
  rows.push(row)
  return row
}

describe(`the images that the project makes itself, ${made.length} of them`, () => {
  renderWith(DEFAULT_LIMITS)

  it.each(made.map((image) => [image.name, image] as const))('%s', async (name, image) => {
    const row = await rowOf(name, expectationOf(image), image.bytes, (became) => madeFaults(image, became))
    expect(row.wrong).toEqual([])
  })
})

const twin = (name: string) => become(shared.find((image) => image.name === name)!.read())
const ofKind = (svg: boolean) =>
  shared.filter(({ name }) => isSvg(name) === svg).map((image) => [image.name, image] as const)
const howMany = `${shared.length} present and ${absent.length} absent`

describe.skipIf(shared.length === 0)(`real images, ${howMany}`, () => {
  renderWith(DEFAULT_LIMITS)

  it.each(ofKind(false))('%s', async (name, image) => {
    const faults = (became: Became) => manifestFaults(image, became, twin)
    const row = await rowOf(name, image.rightOutcome, image.read(), faults, (became) =>
      policyOn(name, became),
    )
    expect(row.wrong).toEqual([])
  })

  it.each(ofKind(true))('%s, while SVG is off', async (name, image) => {
    const row = await rowOf(name, 'refused: unsupported_type', image.read(), (became) =>
      became.kind === 'refused' && became.code === 'unsupported_type' ? [] : [shortly(became)],
    )
    expect(row.wrong).toEqual([])
  })
})

describe.skipIf(shared.length === 0)('real SVG, turned on', () => {
  renderWith(SVG_ON)

  it.each(ofKind(true))('%s', async (name, image) => {
    const faults = (became: Became) => {
      // A gzip is none of the accepted types, whatever is in it; and how an SVG without a size is drawn is a decision.
      if (name.endsWith('.svgz')) return became.kind === 'refused' ? [] : [shortly(became)]
      if (name === 'svg-no-dims.svg') return became.kind === 'rendered' ? [] : [shortly(became)]
      return manifestFaults(image, became, twin)
    }
    const row = await rowOf(`${name} (SVG on)`, image.rightOutcome, image.read(), faults, (became) =>
      policyOn(name, became),
    )
    expect(row.wrong).toEqual([])
  })
})

it('no image hung but perhaps the one that is made to, and no process ended but for that one', () => {
  const hung = rows.filter(({ got }) => got.endsWith('timeout')).map(({ file }) => file)
  expect(hung.filter((file) => file !== `${ENDLESS} (SVG on)`)).toEqual([])
  expect(ends.map(({ killedFor }) => killedFor)).toEqual(hung.map(() => 'abandoned'))
})

it.skipIf(!HAS_PROC)('no rendering process outlives the pool that it is of', async () => {
  expect(seen.size).toBeGreaterThan(0)
  expect([...seen].filter((pid) => !isGone(pid))).toEqual([])
  expect(renderProcessesOf()).toEqual([])
})

const ENDLESS = 'svg-use-exponential.svg'

function expectationOf({ expect: expected }: TestImage): string {
  switch (expected.outcome) {
    case 'thumbnail':
      return `${expected.thumbnail.width}x${expected.thumbnail.height}`
    case 'job_fails':
      return `failed: ${expected.codes.join(' or ')}`
    case 'refused':
      return `refused: ${expected.code}`
  }
}

function madeFaults({ expect: expected }: TestImage, became: Became): string[] {
  if (expected.outcome === 'refused') {
    return became.kind === 'refused' && became.code === expected.code ? [] : [shortly(became)]
  }
  if (expected.outcome === 'job_fails') {
    const codes: string[] = expected.codes
    return became.kind === 'failed' && codes.includes(became.code) ? [] : [shortly(became)]
  }
  if (became.kind !== 'rendered') return [shortly(became)]
  const { picture, rendering } = became
  const { width, height } = expected.thumbnail
  return [
    ...(picture.width === width && picture.height === height ? [] : [`${picture.width}x${picture.height}`]),
    ...(rendering.facts.width === expected.width && rendering.facts.height === expected.height
      ? []
      : [`said to be ${rendering.facts.width}x${rendering.facts.height}`]),
    ...(rendering.facts.pages === expected.frames ? [] : [`${rendering.facts.pages} pages`]),
  ]
}

/** Linux keeps the highest memory of a process; 5 makes it begin anew (proc(5), clear_refs). */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {}
}

function peakOf(pid: number): number | null {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Number(kilobytes) * 1_024 : null
  } catch {
    return null
  }
}

function asTable(): string[] {
  const lines = rows.map(({ file, expected, got, policy, wrong, seconds, peakBytes }) => [
    wrong.length === 0 ? 'right' : 'WRONG',
    file,
    expected,
    [got, wrong.length > 0 && `(${wrong.join('; ')})`].filter(Boolean).join(' '),
    seconds.toFixed(2),
    peakBytes === null ? '' : String(Math.round(peakBytes / 1e6)),
    policy,
  ])
  const table = [['', 'file', 'expected', 'got', 'seconds', 'peak MB', ''], ...lines]
  const widths = [
    5,
    ...[1, 2, 3].map((i) => Math.min(60, Math.max(...table.map((row) => row[i]!.length)))),
    7,
    7,
  ]
  const right = rows.filter(({ wrong }) => wrong.length === 0).length
  return [
    ...table.map((row) =>
      row.map((cell, i) => (i < 4 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    ),
    `${rows.length} rows, ${right} right; ${made.length} images made here; ${sharedImagesCount()}` +
      (absent.length > 0 ? ` (${absent.join(', ')})` : ''),
  ]
}
