import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { Queues } from '../../core/ports/queue.ts'
import { ConfigError } from '../config.ts'
import { sdkFailure } from '../sdk-failure.ts'
import { createSqsClient } from './client.ts'
import { createSqsQueue } from './sqs-queue.ts'

export interface SqsOptions {
  queueUrl: string
  /** An emulator's; null for AWS. */
  endpointUrl: string | null
  /** What the protocol believes the queue's visibility timeout to be. */
  visibilitySeconds: number
  /** The deadline of opening, all in all. */
  withinMs: number
}

/**
 * Opens the jobs' queue and the dead-letter queue that its redrive policy names.
 *
 * @throws {ConfigError} when the queue is not set up as the protocol needs it
 * @throws {DependencyError} when SQS could not be asked
 */
export async function openSqsQueues({
  queueUrl,
  endpointUrl,
  visibilitySeconds,
  withinMs,
}: SqsOptions): Promise<Queues> {
  const client = createSqsClient(endpointUrl)
  await client.config.region().catch(() => {
    throw new ConfigError(['AWS_REGION is missing; QUEUE_URL needs it.'])
  })
  const signal = AbortSignal.timeout(withinMs)
  let deadLetterUrl: string
  try {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
      { abortSignal: signal },
    )
    deadLetterUrl = await findQueue(client, deadLetterArn(Attributes, visibilitySeconds), signal)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw sdkFailure('queue', `the queue of QUEUE_URL could not be asked`, error)
  }
  return { jobs: createSqsQueue(client, queueUrl), deadLetters: createSqsQueue(client, deadLetterUrl) }
}

/** Where the queue's dead letters go, or a {@link ConfigError} with all that is wrong with the queue. */
function deadLetterArn(attributes: Partial<Record<string, string>>, visibilitySeconds: number): string {
  const policy = JSON.parse(attributes.RedrivePolicy || '{}') as {
    deadLetterTargetArn?: string
    maxReceiveCount?: number | string
  }
  const { deadLetterTargetArn } = policy
  const maxReceiveCount = Number(policy.maxReceiveCount)
  const wrong: string[] = []
  if (attributes.FifoQueue === 'true') {
    wrong.push('QUEUE_URL names a FIFO queue; it has to be a standard queue.')
  }
  if (Number(attributes.VisibilityTimeout) !== visibilitySeconds) {
    wrong.push(
      `The queue's VisibilityTimeout is ${attributes.VisibilityTimeout} s, but VISIBILITY_SECONDS is ${visibilitySeconds}; they have to be the same.`,
    )
  }
  if (!deadLetterTargetArn) {
    wrong.push('The queue has no redrive policy; it needs one that names a dead-letter queue.')
  } else if (!(maxReceiveCount >= LEAST_MAX_RECEIVE_COUNT)) {
    // Receives are not attempts: drains, early deliveries and outages cost some as well. A limit near the budget would
    // take healthy jobs' messages away.
    wrong.push(
      `The queue's maxReceiveCount is ${policy.maxReceiveCount}; it has to be ${LEAST_MAX_RECEIVE_COUNT} or more (50 is a good value).`,
    )
  }
  if (wrong.length > 0) throw new ConfigError(wrong)
  return deadLetterTargetArn!
}

const LEAST_MAX_RECEIVE_COUNT = 10

/** The URL of the queue with this ARN, `arn:aws:sqs:<region>:<account>:<name>`. */
async function findQueue(client: SQSClient, arn: string, signal: AbortSignal): Promise<string> {
  const [account, name] = arn.split(':').slice(-2)
  const { QueueUrl } = await client.send(
    new GetQueueUrlCommand({ QueueName: name!, QueueOwnerAWSAccountId: account! }),
    { abortSignal: signal },
  )
  return QueueUrl!
}
