import type { Kysely } from 'kysely'
import { DEFAULT_OPTIONS, type JobError } from '../../../core/job.ts'
import { toOutput } from '../../../db/jobs/stored-output.ts'
import type { Database } from '../../../db/schema.ts'
import { recordId, type Tables } from '../memory/tables.ts'

/** Makes `tables` what the database's tables are, so that whoever watches the one can watch the other. */
export async function loadTables(db: Kysely<Database>, tables: Tables): Promise<void> {
  const [jobs, outbox, records, operations, events, letters, callbacks] = await Promise.all([
    db.selectFrom('jobs').selectAll().execute(),
    db.selectFrom('outbox').selectAll().execute(),
    db.selectFrom('idempotency_records').selectAll().execute(),
    db.selectFrom('processed_operations').selectAll().execute(),
    db.selectFrom('job_events').selectAll().orderBy('event_id').execute(),
    db.selectFrom('dead_letters').selectAll().orderBy('dead_letter_id').execute(),
    db.selectFrom('callbacks').selectAll().execute(),
  ])
  tables.jobs.clear()
  for (const row of jobs) {
    tables.jobs.set(row.job_id, {
      jobId: row.job_id,
      tenant: row.tenant,
      status: row.status,
      fence: row.fence,
      attempts: row.attempts,
      generation: row.generation,
      runAt: row.run_at.getTime(),
      publishedAt: time(row.published_at),
      claimedAt: time(row.claimed_at),
      leaseOwner: row.lease_owner,
      leaseUntil: time(row.lease_until),
      objectKey: row.object_key,
      original: row.original,
      options: row.options ?? DEFAULT_OPTIONS,
      warnings: row.warnings,
      outputs: row.outputs?.map(toOutput) ?? null,
      result: row.result,
      error: row.error_code && { code: row.error_code, message: row.error_message ?? '' },
      lastError: row.last_error_code && { code: row.last_error_code, message: row.last_error_message ?? '' },
      republications: row.republications,
      republishedAt: time(row.republished_at),
      redrivenGeneration: row.redriven_generation,
      createdAt: row.created_at.getTime(),
      deadlineAt: row.deadline_at.getTime(),
      finishedAt: time(row.finished_at),
      deletedAt: time(row.deleted_at),
      objectsDeletedAt: time(row.objects_deleted_at),
      callbackUrl: row.callback_url,
      traceparent: row.traceparent,
    })
  }
  tables.outbox.clear()
  for (const row of outbox) {
    tables.outbox.set(row.job_id, {
      outboxId: Number(row.outbox_id),
      jobId: row.job_id,
      claimToken: row.claim_token,
      claimedUntil: time(row.claimed_until),
      tries: row.tries,
    })
  }
  tables.idempotencyRecords.clear()
  for (const row of records) {
    tables.idempotencyRecords.set(recordId(row), {
      tenant: row.tenant,
      key: row.key,
      token: row.token,
      leaseUntil: row.lease_until.getTime(),
      fingerprint: row.fingerprint,
      jobId: row.job_id,
    })
  }
  tables.processedOperations.clear()
  for (const row of operations) {
    tables.processedOperations.set(row.operation_id, { jobId: row.job_id, at: row.processed_at.getTime() })
  }
  tables.jobEvents = events.map(({ event_id, job_id, event, at, fence, attempts, detail }) => ({
    ...{ eventId: Number(event_id), jobId: job_id, event, fence, attempts },
    error: event === 'failed' ? (detail as JobError) : null,
    at: at.getTime(),
  }))
  tables.deadLetters = letters.map((row) => ({
    messageId: row.message_id,
    jobId: row.job_id,
    generation: row.generation,
    body: row.body,
    reason: row.reason,
    receiveCount: row.receive_count,
    verdict: row.verdict,
  }))
  tables.callbacks.clear()
  for (const row of callbacks) {
    tables.callbacks.set(row.callback_id, {
      callbackId: row.callback_id,
      jobId: row.job_id,
      tenant: row.tenant,
      event: row.event,
      url: row.url,
      error: row.error_code && { code: row.error_code, message: row.error_message ?? '' },
      createdAt: row.created_at.getTime(),
    })
  }
}

function time(date: Date | null): number | null {
  return date?.getTime() ?? null
}
