import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { coverageTable, emptyCells, unexpectedRows } from './coverage.ts'
import { EXHAUSTIVE, type ExhaustivePart } from './exhaustive-plan.ts'
import { inParallel } from './in-parallel.ts'
import { INVARIANTS } from './invariants/violation.ts'
import { MUTANTS } from './mutants/all.ts'
import { regressionFile } from './regressions.ts'
import { missingSightings, sumOf } from './seeds.ts'
import { SIGHTINGS } from './sightings.ts'
import { simulate } from './simulate.ts'
import { scenarioOfSeed } from './swarm.ts'

// The simulation by hand:
//   --seed N [--record NAME]    one seed, told line by line; --record keeps it as a permanent test
//   --seeds N [--from M]        many, with the table of what was met
//   --exhaustive [--all]        every placement of faults; with --all also those that take minutes
//   --mutants [--seeds N]       each mutant until a seed gives it away
const USAGE =
  'usage: --seed N [--record NAME] | --seeds N [--from M] | --exhaustive [--all] | --mutants [--seeds N]'

/** Seeds that a thread takes at a time. */
const CHUNK = 100

const args = process.argv.slice(2)
const has = (name: string) => args.includes(name)
const text = (name: string) => (has(name) ? args[args.indexOf(name) + 1] : undefined)
const number = (name: string, otherwise: number) => {
  const value = has(name) ? Number(text(name)) : otherwise
  if (!Number.isInteger(value)) throw new Error(`${name} takes a whole number. ${USAGE}`)
  return value
}

const startedAt = performance.now()
const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0)
if (has('--mutants')) await tellMutants(number('--seeds', 2_000))
else if (has('--exhaustive')) await tellExhaustive(has('--all'))
else if (has('--seeds')) await tellSeeds(number('--from', 1), number('--seeds', 2_000))
else if (has('--seed')) await tellSeed(String(number('--seed', 1)), text('--record'))
else console.log(USAGE)

async function tellSeed(seed: string, record: string | undefined): Promise<void> {
  const scenario = scenarioOfSeed(seed)
  const result = await simulate(scenario, { kept: true })
  console.log(JSON.stringify(scenario, null, 1))
  console.log(result.trace.join('\n'))
  for (const { invariant, text } of result.violations) fail(`${INVARIANTS[invariant]}\n  ${text}`)
  console.log(`seed ${seed}: ${result.steps} events, ${result.calls} calls, trace hash ${result.hash}`)
  if (record) writeFileSync(...regressionFile(record, seed, scenario, result))
}

async function tellSeeds(from: number, count: number): Promise<void> {
  const orders = Array.from({ length: Math.ceil(count / CHUNK) }, (_, i) => ({
    from: from + i * CHUNK,
    count: Math.min(CHUNK, count - i * CHUNK),
  }))
  const { failures, coverage, sightings, unstable } = sumOf(await inParallel('seeds', orders))
  console.log(coverageTable(coverage))
  for (const [name, told] of Object.entries(SIGHTINGS)) {
    console.log(`${String(sightings[name as keyof typeof SIGHTINGS] ?? 0).padStart(7)}  ${told}`)
  }
  for (const { seed, violation } of failures) fail(`seed ${seed}: ${violation.invariant}: ${violation.text}`)
  for (const seed of unstable) fail(`seed ${seed} gave another trace the second time`)
  for (const cell of emptyCells(coverage)) fail(`never happened: ${cell}`)
  for (const row of unexpectedRows(coverage)) fail(`not among the steps of the table: ${row}`)
  for (const sighting of missingSightings(sightings)) fail(`never seen: ${SIGHTINGS[sighting]}`)
  const cells = coverage.reduce((sum, { faults }) => sum + Object.keys(faults).length, 0)
  console.log(
    `${count} seeds from ${from} in ${seconds()} s on ${availableParallelism()} threads, ` +
      `${failures.length} failed; ${cells} cells of ${coverage.length} steps met`,
  )
}

async function tellExhaustive(all: boolean): Promise<void> {
  for (const part of EXHAUSTIVE) if (all || !part.thorough) await tellPlacements(part)
}

async function tellPlacements({ name }: ExhaustivePart): Promise<void> {
  const of = 32
  const orders = Array.from({ length: of }, (_, index) => ({ part: name, share: { index, of } }))
  const before = performance.now()
  const shares = await inParallel('placements', orders)
  const failures = shares.flatMap((share) => share.failures)
  const told = [0, 1, 2, 3]
    .map((faults) => shares.reduce((sum, { runs }) => sum + (runs[faults] ?? 0), 0))
    .flatMap((count, faults) => (count > 0 ? [`${count} with ${faults}`] : []))
  console.log(
    `${name}: ran ${told.join(', ')}; ${failures.length} failed; ${((performance.now() - before) / 1_000).toFixed(0)} s`,
  )
  for (const { placement, violation } of failures.slice(0, 20)) {
    fail(`${JSON.stringify(placement)}: ${violation.invariant}: ${violation.text}`)
  }
  if (failures.length > 20) fail(`and ${failures.length - 20} more`)
}

async function tellMutants(maxSeeds: number): Promise<void> {
  const fates = await inParallel(
    'mutant',
    MUTANTS.map(({ name }) => ({ name, maxSeeds })),
  )
  for (const { name, killedBy, seeds } of fates) {
    const told = killedBy
      ? `${killedBy.invariant} after ${seeds}: ${killedBy.text}`
      : `SURVIVED ${seeds} seeds`
    console.log(`${name.padEnd(52)} ${told}`)
    if (!killedBy) fail(`${name}: ${MUTANTS.find((mutant) => mutant.name === name)?.wrong}`)
  }
  const killed = fates.filter(({ killedBy }) => killedBy).length
  console.log(`${killed} of ${fates.length} mutants given away in ${seconds()} s`)
}

function fail(text: string): void {
  console.log(`✗ ${text}`)
  process.exitCode = 1
}
