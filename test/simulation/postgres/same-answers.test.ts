import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Jobs } from '../../../core/ports/jobs.ts'
import { openDatabase } from '../../../db/connect.ts'
import { createPostgresJobs } from '../../../db/jobs/postgres-jobs.ts'
import type { Database } from '../../../db/schema.ts'
import { createTestDatabase, type TestDatabase } from '../../database.ts'
import { createMemoryJobs } from '../memory/memory-jobs.ts'
import { createTables, type Tables } from '../memory/tables.ts'
import { seededRandom } from '../seeded-random.ts'
import { loadTables } from './load-tables.ts'
import { drawOperation } from './random-operations.ts'
import { emptyTables, installVirtualTime, setTime } from './virtual-time.ts'

describe('the tables in memory', () => {
  let database: TestDatabase
  let db: Kysely<Database>
  beforeAll(async () => {
    database = await createTestDatabase()
    await installVirtualTime(database.url)
    db = openDatabase(database.url, { max: 6, callMs: 10_000, application: 'img42-test' })
  })
  afterAll(async () => {
    await db.destroy()
    await database.drop()
  })

  it.each(Array.from({ length: SEQUENCES }, (_, i) => i + 1))(
    'answer and end up as Postgres does, sequence %i',
    async (sequence) => {
      await emptyTables(db)
      const random = seededRandom(`operations/${sequence}`)
      let now = Date.UTC(2026, 0, 1)
      const memory = createTables(() => now)
      const loaded = createTables(() => now)
      const jobs = { memory: createMemoryJobs(memory), postgres: createPostgresJobs(db) }
      const told: string[] = []
      for (let step = 0; step < STEPS; step++) {
        now += random.pick([0, 0, 1, 400, 1_000, 3_000])
        await setTime(db, now)
        const { method, arguments: build } = drawOperation(random, memory)
        const answers = {
          memory: await call(jobs.memory, method, build(rowIds(memory))),
          postgres: await call(jobs.postgres, method, build(rowIds(loaded))),
        }
        told.push(`${now} ${method} ${JSON.stringify(build(rowIds(memory)))} → ${JSON.stringify(answers)}`)
        const story = told.slice(-12).join('\n')
        expect(answers.postgres, story).toEqual(answers.memory)
        await loadTables(db, loaded)
        expect(comparable(loaded), story).toEqual(comparable(memory))
      }
    },
  )
})

const SEQUENCES = 6
const STEPS = 150

/** The outbox row of a job, under the id that this implementation gave it. */
function rowIds(tables: Tables): (jobId: string) => string {
  return (jobId) => String(tables.outbox.get(jobId)?.outboxId ?? 0)
}

async function call(jobs: Jobs, method: keyof Jobs, args: unknown[]): Promise<unknown> {
  try {
    const answer = await (jobs[method] as (...args: unknown[]) => Promise<unknown>)(...args)
    if (method === 'claimOutbox') {
      return (answer as { rowId: string }[]).map(({ rowId: _, ...row }) => row).sort(byText)
    }
    if (method === 'transitionsAfter')
      return (answer as { eventId: string }[]).map(({ eventId: _, ...row }) => row)
    // A sweep promises no order within its answer.
    return Array.isArray(answer) ? [...answer].sort(byText) : answer
  } catch (error) {
    return { failed: /duplicate key/.test(String(error)) ? 'duplicate key' : String(error) }
  }
}

function comparable({
  jobs,
  outbox,
  idempotencyRecords,
  processedOperations,
  jobEvents,
  deadLetters,
  callbacks,
}: Tables) {
  return {
    jobs: [...jobs.values()].sort(byText),
    outbox: [...outbox.values()].map(({ outboxId: _, ...row }) => row).sort(byText),
    records: [...idempotencyRecords.values()].sort(byText),
    operations: [...processedOperations].sort(byText),
    events: jobEvents.map(({ eventId: _, ...row }) => row).sort(byText),
    deadLetters: [...deadLetters].sort(byText),
    callbacks: [...callbacks.values()].sort(byText),
  }
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
