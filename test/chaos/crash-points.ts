import type { AppName } from '../end-to-end/app-process.ts'
import type { Service } from './supervised-app.ts'

/** A call of the protocol, by what passes between the process and the service; a process is killed before or after it. */
export interface CrashPoint {
  name: string
  app: AppName
  service: Service
  pattern: RegExp
}

export const CRASH_POINTS: CrashPoint[] = [
  { name: 'store the original', app: 'api', service: 's3', pattern: /^PUT \S*originals\// },
  { name: 'reserve the key', app: 'api', service: 'postgres', pattern: /insert into "idempotency_records"/ },
  { name: 'accept the job', app: 'api', service: 'postgres', pattern: /insert into jobs / },
  {
    name: 'claim outbox rows',
    app: 'reconciler',
    service: 'postgres',
    pattern: /update outbox set claim_token/,
  },
  { name: 'send', app: 'reconciler', service: 'sqs', pattern: /x-amz-target: AmazonSQS\.SendMessageBatch/i },
  { name: 'confirm the sending', app: 'reconciler', service: 'postgres', pattern: /delete from outbox/ },
  { name: 'receive', app: 'worker', service: 'sqs', pattern: /x-amz-target: AmazonSQS\.ReceiveMessage/i },
  { name: 'claim the job', app: 'worker', service: 'postgres', pattern: /set status = 'RUNNING'/ },
  { name: 'read the original', app: 'worker', service: 's3', pattern: /^GET \S*originals\// },
  { name: 'store the output', app: 'worker', service: 's3', pattern: /^PUT \S*outputs\// },
  {
    name: 'complete the job',
    app: 'worker',
    service: 'postgres',
    pattern: /insert into processed_operations/,
  },
  {
    name: 'delete the message',
    app: 'worker',
    service: 'sqs',
    pattern: /x-amz-target: AmazonSQS\.DeleteMessage/i,
  },
]
