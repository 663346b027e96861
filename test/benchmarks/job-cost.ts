// What one job costs beside its picture: `node test/benchmarks/job-cost.ts`. 400 small images through api, worker and
// reconciler as processes, once with the queue in Postgres and files, once with emulators of SQS and S3. Prints for each
// job: processor time of each app and of Postgres, transactions, WAL, rows. Processor time and bytes are what the work takes;
// nothing here is a rate. Linux only, for it reads /proc.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { createClient } from '../../client/index.ts'
import { startTestAws } from '../aws.ts'
import { startApp } from '../end-to-end/app-process.ts'
import { testImage } from '../images.ts'
import { startThrowAwayDatabase } from '../throw-away-database.ts'

const JOBS = 400
const AT_ONCE = 8
const TICKS_A_SECOND = 100
const TABLES = [
  'jobs',
  'job_events',
  'processed_operations',
  'idempotency_records',
  'outbox',
  'queue_messages',
]

/** Processor time of a process and all that it started, those that have ended included, in milliseconds. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(stat[field]), 0)
  return (ticks * 1_000) / TICKS_A_SECOND + childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), 0)
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[1] === String(pid)
      } catch {
        return false
      }
    })
    .map(Number)
}

async function measure(what: string, more: Record<string, string>): Promise<void> {
  const database = await startThrowAwayDatabase()
  const dataDir = mkdtempSync(path.join(tmpdir(), 'img42-job-cost-'))
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, CONCURRENCY: '2', ...more }
  const names = ['api', 'worker', 'reconciler'] as const
  const apps = await Promise.all(names.map((name) => startApp(name, env)))
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  const ask = async <T extends object>(sql: string) => (await pool.query<T>(sql)).rows[0]!
  const client = createClient({ baseUrl: `http://127.0.0.1:${apps[0]!.port}` })
  const { bytes } = await testImage('jpeg-orientation-1')
  const send = async () => {
    const { job_id } = await client.upload(new Uint8Array(bytes), { contentType: 'image/jpeg' })
    await client.waitFor(job_id)
  }
  const look = async () => {
    const { lsn } = await ask<{ lsn: string }>("select pg_current_wal_lsn() - '0/0' as lsn")
    // Statistics are handed in by each backend once a second at most.
    await pool.query('select pg_stat_force_next_flush()')
    const { commits } = await ask<{ commits: string }>(
      'select xact_commit as commits from pg_stat_database where datname = current_database()',
    )
    const { pid } = await ask<{ pid: number }>(
      "select pid from pg_stat_activity where backend_type = 'checkpointer'",
    )
    const postmaster = Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[1])
    return {
      wal: Number(lsn),
      commits: Number(commits),
      postgres: cpuMs(postmaster),
      apps: apps.map(({ pid }) => cpuMs(pid)),
    }
  }
  try {
    for (let i = 0; i < 20; i++) await send()
    const before = await look()
    let left = JOBS
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0) await send()
      }),
    )
    const after = await look()
    const each = (a: number, b: number, digits = 2) => ((b - a) / JOBS).toFixed(digits)
    console.log(`${what}: for each of ${JOBS} jobs of ${bytes.length} bytes`)
    for (const [i, name] of names.entries())
      console.log(`  ${name.padEnd(12)} ${each(before.apps[i]!, after.apps[i]!)} ms of processor`)
    console.log(`  postgres     ${each(before.postgres, after.postgres)} ms of processor`)
    console.log(
      `  transactions ${each(before.commits, after.commits, 1)}, clients' polls and sweeps included`,
    )
    console.log(`  WAL          ${each(before.wal, after.wal, 0)} bytes`)
    for (const table of TABLES) {
      const { bytes, rows } = await ask<{ bytes: string; rows: string }>(
        `select pg_total_relation_size('${table}') as bytes, (select count(*) from ${table}) as rows`,
      )
      console.log(
        `  ${table.padEnd(22)} ${String(rows).padStart(6)} rows, ${Math.round(Number(bytes) / (JOBS + 20))} bytes a job, indexes included`,
      )
    }
  } finally {
    await pool.end()
    await Promise.all(apps.map((app) => app.kill()))
    await database.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

await measure('queue in Postgres, objects in files', {})
const aws = await startTestAws()
const { jobsUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 50 })
await measure('SQS and S3 (emulators, whose time is not counted)', {
  ...{ QUEUE_URL: jobsUrl, S3_BUCKET: await aws.createBucket(), AWS_ENDPOINT_URL: aws.endpointUrl },
})
await aws.stop()
