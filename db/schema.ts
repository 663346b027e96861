import type { ColumnType, Generated } from 'kysely'
import type { CallbackEvent, CallbackState } from '../core/callback.ts'
import type { SendError } from '../core/callback-schedule.ts'
import type { ImageWarning } from '../core/image/warnings.ts'
import type { JobErrorCode, JobOptions, JobResult, JobStatus, OriginalFacts } from '../core/job.ts'
import type { StoredOutput } from './jobs/stored-output.ts'

/** The tables as the migrations made them. A `bigint` is read as text: ids are compared, never counted with. */
export interface Database {
  jobs: JobsTable
  outbox: OutboxTable
  idempotency_records: IdempotencyRecordsTable
  processed_operations: ProcessedOperationsTable
  job_events: JobEventsTable
  dead_letters: DeadLettersTable
  queue_messages: QueueMessagesTable
  tenants: TenantsTable
  api_keys: ApiKeysTable
  callbacks: CallbacksTable
  callback_attempts: CallbackAttemptsTable
  callback_secrets: CallbackSecretsTable
  disabled_callback_urls: DisabledCallbackUrlsTable
}

export interface JobsTable {
  job_id: string
  tenant: string
  status: JobStatus
  fence: Generated<number>
  attempts: Generated<number>
  generation: Generated<number>
  run_at: Generated<Date>
  published_at: Date | null
  claimed_at: Date | null
  lease_owner: string | null
  lease_until: Date | null
  object_key: string
  original: Json<OriginalFacts>
  /** null in rows from before there were presets: the default. */
  options: Json<JobOptions> | null
  warnings: Json<ImageWarning[]>
  outputs: Json<StoredOutput[]> | null
  result: Json<JobResult> | null
  error_code: JobErrorCode | null
  error_message: string | null
  last_error_code: JobErrorCode | null
  last_error_message: string | null
  republications: Generated<number>
  republished_at: Date | null
  redriven_generation: Generated<number>
  created_at: Generated<Date>
  deadline_at: Date
  finished_at: Date | null
  deleted_at: Date | null
  objects_deleted_at: Date | null
  traceparent: string | null
  callback_url: string | null
}

export interface OutboxTable {
  outbox_id: Generated<string>
  job_id: string
  claim_token: string | null
  claimed_until: Date | null
  tries: Generated<number>
  created_at: Generated<Date>
}

export interface IdempotencyRecordsTable {
  tenant: string
  key: string
  token: string
  lease_until: Date
  fingerprint: string | null
  job_id: string | null
  created_at: Generated<Date>
}

export interface ProcessedOperationsTable {
  consumer_name: string
  operation_id: string
  job_id: string
  processed_at: Generated<Date>
}

export interface JobEventsTable {
  event_id: Generated<string>
  job_id: string
  event: JobEvent
  at: Generated<Date>
  fence: number
  attempts: number
  detail: Json<object> | null
}

export type JobEvent =
  | 'accepted'
  | 'published'
  | 'claimed'
  | 'put_back'
  | 'rescued'
  | 'republished'
  | 'redriven'
  | 'succeeded'
  | 'failed'
  | 'buried'

export interface DeadLettersTable {
  dead_letter_id: Generated<string>
  message_id: string | null
  job_id: string | null
  generation: number | null
  body: string | null
  reason: string
  receive_count: number
  verdict: DeadLetterVerdictName
  recorded_at: Generated<Date>
}

export type DeadLetterVerdictName =
  | 'false_quarantine'
  | 'superseded'
  | 'republished'
  | 'failed'
  | 'no_such_job'
  | 'unreadable'

export interface QueueMessagesTable {
  message_id: string
  queue_name: string
  body: string
  attributes: Json<Record<string, string>>
  visible_at: Generated<Date>
  receipt_handle: string | null
  receive_count: Generated<number>
  received_at: Date | null
  sent_at: Generated<Date>
}

export interface TenantsTable {
  tenant: string
  rate_per_second: Generated<number>
  burst: Generated<number>
  max_in_flight: Generated<number>
  callback_url: string | null
  created_at: Generated<Date>
}

export interface ApiKeysTable {
  key_id: string
  tenant: string
  name: string
  key_hash: Buffer
  shown_part: string
  created_at: Generated<Date>
  revoked_at: Date | null
}

export interface CallbacksTable {
  callback_id: string
  job_id: string
  tenant: string
  event: CallbackEvent
  url: string
  receiver: ColumnType<number, never, never>
  error_code: JobErrorCode | null
  error_message: string | null
  state: Generated<CallbackState>
  sends: Generated<number>
  next_attempt_at: Generated<Date>
  claim_token: string | null
  created_at: Generated<Date>
  finished_at: Date | null
}

export interface CallbackAttemptsTable {
  attempt_id: Generated<string>
  callback_id: string
  at: Date
  duration_ms: number
  status_code: number | null
  error: SendError | null
}

export interface CallbackSecretsTable {
  secret_id: Generated<string>
  tenant: string
  secret: string
  created_at: Generated<Date>
  expires_at: Date | null
}

export interface DisabledCallbackUrlsTable {
  tenant: string
  url: string
  disabled_at: Generated<Date>
}

/** jsonb: read as what it is, written as text, because pg would send an array as a Postgres array. */
type Json<T> = ColumnType<T, string, string>
