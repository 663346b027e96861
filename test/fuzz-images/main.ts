// `npm run test:fuzz-images`: 2,000 damaged copies of 40 images through the service as its users run it. Ends with 1 if an
// answer was a 5xx, a code was none of the documented ones or a mistake of ours, a job did not end, or a process did.
// `--cases N`, `--seed N`; `--case N` sends that one alone, and leaves it in a file to be looked at.
import { subscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { PROBLEM_MEANINGS } from '../../apps/api/schemas/problem-codes.ts'
import { renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { createClient, type Job, ProblemError } from '../../client/index.ts'
import { JOB_ERRORS } from '../../core/job-errors.ts'
import { startApp } from '../end-to-end/app-process.ts'
import { SCALED } from '../end-to-end/stack.ts'
import { sharedImages, sharedImagesCount, testImages } from '../images.ts'
import { seededRandom } from '../simulation/seeded-random.ts'
import { startThrowAwayDatabase } from '../throw-away-database.ts'
import { damage } from './damage.ts'

for (const end of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(end, () => process.exit(1))

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    case: { type: 'string' },
  },
})
const FILES = 40
const AT_ONCE = 8
/** Longer ones make the run longer, and nothing else. */
const MOST_BYTES = 300_000
/** A job that has not ended by then never does: its attempts together may take no longer. */
const ENDLESS_MS = 180_000

const files = await chooseFiles()
const real = files.filter(({ real }) => real).length
console.log(
  `${files.length} images, ${real} of them real (${sharedImagesCount()}), ${values.cases} damaged copies, seed ${values.seed}`,
)

const database = await startThrowAwayDatabase()
const dataDir = mkdtempSync(path.join(tmpdir(), 'img42-fuzz-images-'))
const env = { ...SCALED, DATABASE_URL: database.url, DATA_DIR: dataDir }
const names = ['api', 'worker', 'reconciler'] as const
const apps = await Promise.all(names.map((name) => startApp(name, env)))
const client = createClient({ baseUrl: `http://127.0.0.1:${apps[0]!.port}` })
const gone = new Set<string>()
for (const [i, app] of apps.entries()) void app.ended.then((code) => gone.add(`${names[i]} ended (${code})`))

const counts = new Map<string, number>()
const wrong: string[] = []
// Not by what the client says: it sends again after a 5xx, and nobody would hear of the first answer.
subscribe('undici:request:headers', (message) => {
  const { request, response } = message as Exchange
  if (response.statusCode >= 500) wrong.push(`${response.statusCode} to ${request.method} ${request.path}`)
})
try {
  const cases = values.case
    ? [Number(values.case)]
    : Array.from({ length: Number(values.cases) }, (_, i) => i)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = cases.shift(); next !== undefined; next = cases.shift()) await tryCase(next)
    }),
  )
  wrong.push(...gone)
  await checkAfterwards()
} finally {
  await Promise.all(apps.map((app) => app.kill()))
  await database.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
for (const [what, times] of [...counts].sort(([a], [b]) => a.localeCompare(b))) {
  console.log(`${String(times).padStart(6)}  ${what}`)
}
console.log(wrong.length === 0 ? 'nothing wrong' : wrong.map((line) => `WRONG: ${line}`).join('\n'))
process.exit(wrong.length === 0 ? 0 : 1)

interface Exchange {
  request: { method: string; path: string }
  response: { statusCode: number }
}

/** The project's own good ones, and of the real ones what there is room for. */
async function chooseFiles(): Promise<{ name: string; bytes: Buffer; real: boolean }[]> {
  const made = (await testImages()).filter(({ expect }) => expect.outcome === 'thumbnail')
  const real = sharedImages()
    .images.filter(({ name, rightOutcome }) => rightOutcome.startsWith('accept') && !/\.svgz?$/.test(name))
    .map(({ name, read }) => ({ name, bytes: read(), real: true }))
    .filter(({ bytes }) => bytes.length <= MOST_BYTES)
  const few = made
    .map(({ name, bytes }) => ({ name, bytes, real: false }))
    .filter(({ bytes }) => bytes.length <= MOST_BYTES)
  const own = few.slice(0, Math.max(FILES - real.length, FILES / 2))
  return [...own, ...real].slice(0, FILES)
}

async function tryCase(number: number): Promise<void> {
  const { file, how, bytes } = damage(
    files.map(({ bytes }) => bytes),
    seededRandom(`${values.seed} ${number}`),
  )
  const what = `case ${number}: ${files[file]!.name}, ${how}`
  if (values.case) {
    const copy = path.join(tmpdir(), `img42-case-${number}`)
    writeFileSync(copy, bytes)
    console.log(`${what}; ${bytes.length} bytes in ${copy}`)
  }
  try {
    const { job_id } = await client.upload(new Uint8Array(bytes), { contentType: 'application/octet-stream' })
    await judge(what, await client.waitFor(job_id, { signal: AbortSignal.timeout(ENDLESS_MS) }))
  } catch (error) {
    if (!(error instanceof ProblemError)) return void wrong.push(`${what}: ${(error as Error).message}`)
    const { status, code } = error
    count(`refused ${status} ${code}`)
    if (status >= 500 || !Object.hasOwn(PROBLEM_MEANINGS, code)) wrong.push(`${what}: ${status} ${code}`)
  }
}

async function judge(what: string, job: Job): Promise<void> {
  if (job.status === 'SUCCEEDED') {
    count(
      `SUCCEEDED${job.warnings.length > 0 ? ` with ${job.warnings.map(({ code }) => code).join(', ')}` : ''}`,
    )
    const thumbnail = await client.downloadThumbnail(job.job_id)
    if (thumbnail.size === 0) wrong.push(`${what}: an empty thumbnail`)
    return
  }
  const code = job.error?.code ?? 'none'
  count(`FAILED ${code}${job.last_error ? ` after ${job.last_error.code}` : ''}`)
  if (!Object.hasOwn(JOB_ERRORS, code)) wrong.push(`${what}: ${code} is documented nowhere`)
  if ([code, job.last_error?.code].includes('internal'))
    wrong.push(`${what}: a mistake of ours: ${job.error?.message}`)
}

/** What was damaged has hurt nothing else: an image in order goes through, and no more renders than is meant to. */
async function checkAfterwards(): Promise<void> {
  const [good] = await testImages()
  const { job_id } = await client.upload(new Uint8Array(good!.bytes), { contentType: 'image/jpeg' })
  const job = await client.waitFor(job_id, { signal: AbortSignal.timeout(ENDLESS_MS) })
  if (job.status !== 'SUCCEEDED') wrong.push(`an image in order ${job.status} afterwards: ${job.error?.code}`)
  const renderers = renderProcessesOf(apps[1]!.pid).length
  if (process.platform === 'linux' && renderers !== Number(SCALED.CONCURRENCY)) {
    wrong.push(`${renderers} rendering processes afterwards`)
  }
  const crashes = apps[1]!.lines.filter(
    ({ msg, killed_for }) => msg === 'rendering process ended' && !killed_for,
  )
  console.log(`${crashes.length} rendering processes ended by themselves`)
}

function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}
