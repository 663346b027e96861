import type { Kysely } from 'kysely'
import type { Queues } from '../core/ports/queue.ts'
import { openPostgresQueues } from '../db/postgres-queue.ts'
import type { Database } from '../db/schema.ts'
import type { Config } from './config.ts'
import { openSqsQueues } from './sqs/open.ts'

/** A call's deadline is for a process that runs; one that starts has first connections to make, and ends without an answer. */
const OPEN_MS = 30_000

/**
 * The queues that the configuration names: SQS, or a table of the database.
 *
 * @throws {ConfigError} when the SQS queue is not set up as the protocol needs it
 * @throws {DependencyError} when SQS could not be asked
 */
export async function openQueues(config: Config, db: Kysely<Database>): Promise<Queues> {
  const { queueUrl, awsEndpointUrl: endpointUrl, timing } = config
  const { visibilitySeconds, queueRetentionMs: retentionMs, deadLetterRetentionMs } = timing
  return queueUrl === null
    ? openPostgresQueues(db, { visibilitySeconds, retentionMs, deadLetterRetentionMs })
    : openSqsQueues({ queueUrl, endpointUrl, visibilitySeconds, withinMs: OPEN_MS })
}
