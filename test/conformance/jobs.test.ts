import { type Kysely, sql } from 'kysely'
import { describe } from 'vitest'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import type { Database } from '../../db/schema.ts'
import { openTestDatabase } from '../opened-database.ts'
import { createMemoryJobs } from '../simulation/memory/memory-jobs.ts'
import { createTables, type Tables } from '../simulation/memory/tables.ts'
import { loadTables } from '../simulation/postgres/load-tables.ts'
import { emptyTables } from '../simulation/postgres/virtual-time.ts'
import { jobsConformance } from './jobs.ts'

jobsConformance('tables in memory', async () => {
  let now = Date.UTC(2026, 0, 1)
  const tables = createTables(() => now)
  return {
    jobs: createMemoryJobs(tables),
    age: async (ms) => {
      now += ms
    },
    look: async (jobId) => look(tables, jobId),
    close: async () => {},
  }
})

const db = await openTestDatabase()

describe('with a database', () => {
  jobsConformance('Postgres', async () => {
    await emptyTables(db)
    return {
      jobs: createPostgresJobs(db),
      age: (ms) => moveIntoPast(db, ms),
      async look(jobId) {
        const tables = createTables(Date.now)
        await loadTables(db, tables)
        return look(tables, jobId)
      },
      close: async () => {},
    }
  })
})

/** Time passes in a database by all of its times becoming older. */
async function moveIntoPast(db: Kysely<Database>, ms: number): Promise<void> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select table_name as table, array_agg(column_name::text) as columns from information_schema.columns
    where table_schema = 'public' and data_type = 'timestamp with time zone' group by table_name`.execute(db)
  for (const { table, columns } of rows) {
    const older = columns.map((column) => `${column} = ${column} - interval '${ms} milliseconds'`)
    await sql.raw(`update ${table} set ${older.join(', ')}`).execute(db)
  }
}

function look(tables: Tables, jobId: string) {
  return {
    events: tables.jobEvents.filter((row) => row.jobId === jobId).map(({ event }) => event),
    outboxRows: tables.outbox.has(jobId) ? 1 : 0,
    markers: [...tables.processedOperations].filter(([, row]) => row.jobId === jobId).map(([id]) => id),
    deadLetters: tables.deadLetters
      .filter((row) => row.jobId === jobId)
      .map(({ messageId, verdict, reason, receiveCount }) => ({ messageId, verdict, reason, receiveCount })),
    callbacks: [...tables.callbacks.values()]
      .filter((row) => row.jobId === jobId)
      .map(({ callbackId, event, url, error }) => ({ callbackId, event, url, error })),
  }
}
