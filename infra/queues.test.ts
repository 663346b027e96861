import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../db/connect.ts'
import type { Database } from '../db/schema.ts'
import { startTestAws, type TestAws } from '../test/aws.ts'
import { createTestDatabase, type TestDatabase } from '../test/database.ts'
import { readConfig } from './config.ts'
import { openQueues } from './queues.ts'

const LONG = AbortSignal.timeout(60_000)
const MESSAGE = { body: 'x', attributes: {} }

describe('the queues of a configuration', () => {
  let aws: TestAws
  let database: TestDatabase
  let db: Kysely<Database>
  beforeAll(async () => {
    aws = await startTestAws()
    database = await createTestDatabase()
    db = openDatabase(database.url, { max: 2, callMs: 5_000, application: 'img42-test' })
  })
  afterAll(async () => {
    await db.destroy()
    await database.drop()
    await aws.stop()
  })

  const config = (env: NodeJS.ProcessEnv) => readConfig({ DATABASE_URL: database.url, ...env }, 0)
  const inTable = () => db.selectFrom('queue_messages').select(['queue_name', 'body']).execute()

  it('are a table of the database unless a queue is named', async () => {
    const { jobs, deadLetters } = await openQueues(config({}), db)
    await jobs.send([MESSAGE], LONG)
    await deadLetters.send([MESSAGE], LONG)
    expect((await inTable()).map((row) => row.queue_name).toSorted()).toEqual(['dead_letters', 'jobs'])
    await db.deleteFrom('queue_messages').execute()
  })

  it('are the SQS queue that QUEUE_URL names and its dead-letter queue, at AWS_ENDPOINT_URL', async () => {
    const { jobsUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 50 })
    const { jobs } = await openQueues(config({ QUEUE_URL: jobsUrl, AWS_ENDPOINT_URL: aws.endpointUrl }), db)
    await jobs.send([MESSAGE], LONG)
    expect(await jobs.receive({ max: 1, waitSeconds: 5 }, LONG)).toMatchObject([MESSAGE])
    expect(await inTable()).toEqual([])
  })
})
