import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DependencyError } from '../core/errors.ts'
import type { Queue, Queues } from '../core/ports/queue.ts'
import { createTestDatabase, type TestDatabase } from '../test/database.ts'
import { openDatabase } from './connect.ts'
import { openPostgresQueues } from './postgres-queue.ts'
import type { Database } from './schema.ts'

const HOUR_MS = 3_600_000
const LONG = AbortSignal.timeout(60_000)

/** What every queue of the port does is in test/conformance; here is what only a table has to show. */
describe('the queue in Postgres', () => {
  let database: TestDatabase
  let db: Kysely<Database>
  let queues: Queues

  beforeEach(async () => {
    database = await createTestDatabase()
    db = openDatabase(database.url, { max: 5, callMs: 5_000, application: 'img42-test' })
    queues = open()
  })
  afterEach(async () => {
    await db.destroy()
    await database.drop()
  })

  const open = () =>
    openPostgresQueues(db, {
      visibilitySeconds: 30,
      maxReceiveCount: 1,
      retentionMs: HOUR_MS,
      deadLetterRetentionMs: 2 * HOUR_MS,
    })

  async function send(count: number): Promise<void> {
    const messages = Array.from({ length: count }, (_, i) => ({ body: `${i}`, attributes: {} }))
    for (let i = 0; i < count; i += 10) await queues.jobs.send(messages.slice(i, i + 10), LONG)
  }

  const receive = (queue: Queue) => queue.receive({ max: 10, waitSeconds: 0 }, LONG)

  /** Makes every message `ms` older. */
  async function age(ms: number): Promise<void> {
    await sql`update queue_messages set sent_at = sent_at - ${ms}::double precision * interval '1 millisecond'`.execute(
      db,
    )
  }

  it('gives each of many receivers messages of its own', async () => {
    await send(200)
    const received: string[] = []
    async function receiver(): Promise<void> {
      for (let batch = await receive(queues.jobs); batch.length > 0; batch = await receive(queues.jobs)) {
        received.push(...batch.map(({ body }) => body))
      }
    }
    await Promise.all(Array.from({ length: 5 }, receiver))
    expect(received.length).toBe(200)
    expect(new Set(received).size).toBe(200)
  })

  it('forgets a message that is older than the retention', async () => {
    await send(1)
    await age(HOUR_MS + 1)
    expect(await receive(open().jobs)).toEqual([])
    expect(await queues.jobs.depth(LONG)).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
  })

  it('keeps a dead letter for the longer retention, counted from when it was sent', async () => {
    await send(1)
    const [received] = await receive(queues.jobs)
    await queues.jobs.changeVisibility([{ receiptHandle: received!.receiptHandle, seconds: 0 }], LONG)
    await receive(queues.jobs)
    await age(HOUR_MS + 1)
    await receive(open().deadLetters)
    expect(await queues.deadLetters.depth(LONG)).toMatchObject({ inFlight: 1 })
    await age(HOUR_MS)
    await receive(open().deadLetters)
    expect(await queues.deadLetters.depth(LONG)).toMatchObject({ inFlight: 0 })
  })

  it('knows a receipt handle in its own queue alone', async () => {
    await send(1)
    const [received] = await receive(queues.jobs)
    const { receiptHandle } = received!
    expect(await queues.deadLetters.changeVisibility([{ receiptHandle, seconds: 0 }], LONG)).toMatchObject([
      { ok: false },
    ])
    await queues.deadLetters.delete([receiptHandle], LONG)
    expect(await queues.jobs.depth(LONG)).toMatchObject({ inFlight: 1 })
  })

  it('answers what is no receipt handle like an old one, the rest of the batch notwithstanding', async () => {
    await send(1)
    const [received] = await receive(queues.jobs)
    const handles = ['', 'x/y', `${'-'.repeat(36)}/${'-'.repeat(36)}`, received!.receiptHandle]
    const changes = handles.map((receiptHandle) => ({ receiptHandle, seconds: 60 }))
    const outcomes = await queues.jobs.changeVisibility(changes, LONG)
    expect(outcomes.map(({ ok }) => ok)).toEqual([false, false, false, true])
    await queues.jobs.delete(handles, LONG)
    expect(await queues.jobs.depth(LONG)).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
  })

  it('rejects with the signal’s reason while the table is locked, and works on afterwards', async () => {
    await send(1)
    const abort = new AbortController()
    const reason = new Error('enough')
    await db.transaction().execute(async (transaction) => {
      await sql`lock table queue_messages in access exclusive mode`.execute(transaction)
      const calls = [
        queues.jobs.receive({ max: 1, waitSeconds: 20 }, abort.signal),
        queues.jobs.depth(abort.signal),
      ]
      setImmediate(() => abort.abort(reason))
      for (const call of await Promise.allSettled(calls)) expect(call).toEqual({ status: 'rejected', reason })
    })
    expect(await queues.jobs.depth(LONG)).toMatchObject({ delayed: 0 })
  })

  it('calls it the queue’s failure when its table does not answer', async () => {
    await sql`alter table queue_messages rename to away`.execute(db)
    const failure = await queues.jobs.receive({ max: 1, waitSeconds: 0 }, LONG).catch((error) => error)
    expect(failure).toBeInstanceOf(DependencyError)
    expect(failure).toMatchObject({ dependency: 'queue', message: expect.stringContaining('queue_messages') })
  })

  it('finds what is visible by an index, however much lies hidden', async () => {
    await sql`insert into queue_messages (message_id, queue_name, body, attributes, visible_at)
      select gen_random_uuid(), 'jobs', 'x', '{}', now() + interval '1 hour' from generate_series(1, 5000)`.execute(
      db,
    )
    await sql`analyze queue_messages`.execute(db)
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain
      select message_id from queue_messages where queue_name = 'jobs' and visible_at <= now()
      order by visible_at limit 10 for update skip locked`.execute(db)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('queue_messages_visible')
    expect(plan).not.toContain('Sort')
  })
})
