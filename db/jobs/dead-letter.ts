import { type Kysely, sql } from 'kysely'
import { judgeDeadLetter } from '../../core/dead-letter-verdict.ts'
import type { DeadLetter, DeadLetterVerdict } from '../../core/ports/jobs.ts'
import type { Database, DeadLetterVerdictName } from '../schema.ts'
import { endJob } from './end.ts'
import { appendEvent } from './event.ts'
import { findJob } from './row.ts'

type Letter = DeadLetter & { messageId: string; jobId: string | null; generation: number | null }

export function takeDeadLetter(
  db: Kysely<Database>,
  letter: Letter & { budget: number },
): Promise<DeadLetterVerdict> {
  return db.transaction().execute(async (transaction) => {
    const recorded = await transaction
      .selectFrom('dead_letters')
      .select('verdict')
      .where('message_id', '=', letter.messageId)
      .executeTakeFirst()
    if (recorded)
      return recorded.verdict === 'unreadable' ? { kind: 'no_such_job' } : { kind: recorded.verdict }

    const row = await transaction
      .selectFrom('jobs')
      .select('redriven_generation')
      .where('job_id', '=', letter.jobId ?? '')
      .forUpdate()
      .executeTakeFirst()
    // Read after the lock, so that the verdict is on the row that the effect meets.
    const job = row && letter.jobId ? await findJob(transaction, letter.jobId) : null
    const verdict = judgeDeadLetter(job, row?.redriven_generation ?? 0, letter.generation ?? 0, letter.budget)

    if (verdict === 'hold') return { kind: 'hold', retryInMs: job?.claimableInMs ?? 0 }
    if (verdict === 'fail' && job) {
      await endJob(transaction, {
        jobId: job.jobId,
        by: { kind: 'sweep', fence: job.fence },
        end: {
          status: 'FAILED',
          error: { code: 'dead_lettered', message: `received ${letter.receiveCount} times without an end` },
        },
        deadLetter: letter,
      })
      return { kind: 'failed' }
    }
    if (verdict === 'republish' && job) await redrive(transaction, job.jobId)
    const name = verdict === 'republish' ? 'republished' : verdict === 'fail' ? 'no_such_job' : verdict
    await insertDeadLetter(transaction, { ...letter, verdict: name })
    return { kind: name }
  })
}

export async function parkMessage(
  db: Kysely<Database>,
  letter: DeadLetter & { messageId: string },
): Promise<void> {
  await insertDeadLetter(db, { ...letter, jobId: null, generation: null, verdict: 'unreadable' })
}

export async function insertDeadLetter(
  db: Kysely<Database>,
  letter: DeadLetter & { jobId: string | null; generation: number | null; verdict: DeadLetterVerdictName },
): Promise<void> {
  await db
    .insertInto('dead_letters')
    .values({
      message_id: letter.messageId,
      job_id: letter.jobId,
      generation: letter.generation,
      body: letter.body,
      reason: letter.reason,
      receive_count: letter.receiveCount,
      verdict: letter.verdict,
    })
    .onConflict((conflict) => conflict.column('message_id').doNothing())
    .execute()
}

/**
 * A new message for the job, the one that its generation has coming after a dead letter. An outbox row that is there
 * already may have been sent, as the very message that died, by a relay that has yet to confirm it: its claim is taken
 * away, so that the confirmation does not remove the row.
 */
async function redrive(transaction: Kysely<Database>, jobId: string): Promise<void> {
  await sql`
    with changed as (
      update jobs
      set status = 'QUEUED', lease_owner = null, lease_until = null, redriven_generation = generation,
        fence = fence + case when status = 'RUNNING' then 1 else 0 end
      where job_id = ${jobId}
      returning job_id, fence, attempts
    ),
    outbox_row as (
      insert into outbox (job_id) select job_id from changed
      on conflict (job_id) do update set claim_token = null, claimed_until = null
    ),
    event as (${appendEvent('redriven')})
    select from changed`.execute(transaction)
}
