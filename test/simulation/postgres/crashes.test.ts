import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Jobs } from '../../../core/ports/jobs.ts'
import { openDatabase } from '../../../db/connect.ts'
import { createPostgresJobs } from '../../../db/jobs/postgres-jobs.ts'
import type { Database } from '../../../db/schema.ts'
import { createTestDatabase, type TestDatabase } from '../../database.ts'
import { runPlacements, summarize } from '../exhaustive.ts'
import { EXHAUSTIVE } from '../exhaustive-plan.ts'
import type { Tables } from '../memory/tables.ts'
import { simulate } from '../simulate.ts'
import { loadTables } from './load-tables.ts'
import { emptyTables, installVirtualTime, setTime } from './virtual-time.ts'

describe('one job on Postgres', () => {
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

  /** The port on Postgres at the simulation's time, its tables shown to the simulation's invariants. */
  function openJobs(tables: Tables): Jobs {
    const methods = Object.entries(createPostgresJobs(db)).map(([name, method]: [string, Method]) => [
      name,
      async (...args: unknown[]) => {
        await setTime(db, tables.now())
        try {
          return await method(...args)
        } finally {
          await loadTables(db, tables)
        }
      },
    ])
    return Object.fromEntries(methods) as Jobs
  }

  it('keeps every promise with one crash, before and after every call', async () => {
    const { scenario } = EXHAUSTIVE.find(({ name }) => name === 'two crashes, healers on')!
    const placing = { faults: ['crash_before', 'crash_after'] as const, depth: 1 }
    const { runs, failures } = await summarize(
      runPlacements(scenario, placing, async (story, options) => {
        await emptyTables(db)
        return simulate(story, { ...options, openJobs })
      }),
    )
    expect(failures).toEqual([])
    const inMemory = await summarize(runPlacements(scenario, placing))
    expect(runs).toEqual(inMemory.runs)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: a method of the port
type Method = (...args: any[]) => Promise<any>
