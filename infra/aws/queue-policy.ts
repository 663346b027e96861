import { readFileSync } from 'node:fs'

/** How the queues are set up: the file that the service and LocalStack's init read as well. */
export interface QueuePolicy {
  visibility_seconds: number
  max_receive_count: number
  retention_seconds: number
  dead_letter_retention_seconds: number
}

export const QUEUE_POLICY: QueuePolicy = JSON.parse(
  readFileSync(new URL('../queue-policy.json', import.meta.url), 'utf8'),
)
