// `npm run test:chaos`: the whole service as real processes, under load, while everything that can fail does; and a
// checker beside it that counts what was lost and what was done twice. Ends with 1 if there was anything of either.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChecker } from './checker-process.ts'
import { createFaults, POSTGRES_KILLS, PROCESS_KILLS, pickFault, postgresKill } from './faults.ts'
import { writeLoadImages } from './load-images.ts'
import { type ChaosOptions, readOptions, USAGE } from './options.ts'
import { printReport } from './report.ts'
import { type Rig, startRig } from './rig.ts'
import { seededChance } from './seeded-chance.ts'
import { createTally, type Tally } from './tally.ts'

for (const end of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(end, () => process.exit(1))

let options: ChaosOptions
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  console.error(`${(error as Error).message}\n${USAGE}`)
  process.exit(2)
}
console.log(`seed ${options.seed}`)

const tally = createTally()
const unexpected: string[] = []
const folder = mkdtempSync(path.join(tmpdir(), 'img42-chaos-load-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const rig = await startRig((sentence) => {
  console.log(`unexpected: ${sentence}`)
  unexpected.push(sentence)
})
let failed: boolean
try {
  const checker = startChecker({
    ...{ apiUrl: rig.apiUrl, databaseUrl: rig.databaseUrl, s3Url: rig.services.s3Url },
    ...{ bucket: rig.services.bucket, folder, images: await writeLoadImages(folder), seed: options.seed },
    ...{ clients: 6, pauseMs: 150, maxOpen: 60, drainMs: options.drainMs },
  })
  const struckForMs = await strike(rig, options, tally)
  const report = await checker.finish()
  failed = printReport(report, { tally, unexpected, struckForMs, messagesLeft: await messagesLeft(rig) })
} finally {
  await rig.stop()
}
process.exit(failed ? 1 : 0)

/** Faults, several at once, until the options' time and numbers are reached; all are over when it resolves. */
async function strike(rig: Rig, options: ChaosOptions, tally: Tally): Promise<number> {
  const { seconds, processKills, postgresKills, gapMs } = options
  const chance = seededChance(options.seed)
  const faults = createFaults(rig, chance, tally)
  const under = new Set<Promise<void>>()
  const began = performance.now()
  const ranForMs = () => performance.now() - began
  const enough = () =>
    ranForMs() > seconds * 1_000 &&
    tally.of(PROCESS_KILLS) >= processKills &&
    tally.of(POSTGRES_KILLS) >= postgresKills
  // A machine that is too slow for the numbers says so in the report, instead of going on for ever.
  const tooLong = () => ranForMs() > 8 * seconds * 1_000
  let told = 0
  while (!enough() && !tooLong()) {
    await delay(chance.between(0.2, 1.8) * gapMs)
    const overdue = ranForMs() > seconds * 700 && tally.of(POSTGRES_KILLS) < postgresKills
    const fault = overdue && chance.next() < 0.3 ? postgresKill(faults) : pickFault(faults, chance)
    const over = fault.strike().finally(() => under.delete(over))
    under.add(over)
    if (ranForMs() - told > 30_000) {
      told = ranForMs()
      console.log(
        `${Math.round(told / 1_000)} s: ${tally.of(PROCESS_KILLS)} processes killed, Postgres ${tally.of(POSTGRES_KILLS)} times`,
      )
    }
  }
  await Promise.all(under)
  if (!enough())
    unexpected.push(
      `only ${tally.of(PROCESS_KILLS)} and ${tally.of(POSTGRES_KILLS)} kills in ${seconds * 8} s`,
    )
  return ranForMs()
}

/** Messages that no worker took away, once all jobs are done; a delivery may be hidden for a few seconds yet. */
async function messagesLeft(rig: Rig): Promise<number> {
  for (let tries = 1; ; tries++) {
    const left = await rig.services.messages()
    if (left === 0 || tries >= 150) return left
    await delay(200)
  }
}
