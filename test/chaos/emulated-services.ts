import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { CreateQueueCommand, GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { startEmulatedAws } from '../../infra/emulated-aws.ts'
import { createS3Client } from '../../infra/s3/client.ts'
import { createSqsClient } from '../../infra/sqs/client.ts'

/** SQS and S3, each in an emulator of its own, because the one loses everything while the other must not. */
export interface EmulatedServices {
  queueUrl: string
  bucket: string
  s3Url: string
  sqsPort(): number
  s3Port: number
  /** Ends SQS with all its messages and starts another with the same queues, empty, on another port. */
  restartSqs(): Promise<void>
  /** What the jobs' queue holds, in whatever state. */
  messages(): Promise<number>
  stop(): Promise<void>
}

const BUCKET = 'img42-chaos'

export async function startEmulatedServices(visibilitySeconds: number): Promise<EmulatedServices> {
  process.env.AWS_REGION ||= 'us-east-1'
  process.env.AWS_ACCESS_KEY_ID ||= 'test'
  process.env.AWS_SECRET_ACCESS_KEY ||= 'test'
  const s3 = await startEmulatedAws()
  const s3Client = createS3Client(s3.endpointUrl)
  await s3Client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  s3Client.destroy()

  let sqs = await startEmulatedAws()
  const queueUrl = await createQueues(sqs.endpointUrl, visibilitySeconds)
  return {
    queueUrl,
    bucket: BUCKET,
    s3Url: s3.endpointUrl,
    sqsPort: () => portOf(sqs.endpointUrl),
    s3Port: portOf(s3.endpointUrl),
    async restartSqs() {
      await sqs.stop()
      sqs = await startEmulatedAws()
      await createQueues(sqs.endpointUrl, visibilitySeconds)
    },
    async messages() {
      const client = createSqsClient(sqs.endpointUrl)
      try {
        const { Attributes = {} } = await client.send(
          new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
        )
        return (
          Number(Attributes.ApproximateNumberOfMessages) +
          Number(Attributes.ApproximateNumberOfMessagesNotVisible) +
          Number(Attributes.ApproximateNumberOfMessagesDelayed)
        )
      } finally {
        client.destroy()
      }
    },
    async stop() {
      await Promise.all([sqs.stop(), s3.stop()])
    },
  }
}

async function createQueues(endpointUrl: string, visibilitySeconds: number): Promise<string> {
  const client = createSqsClient(endpointUrl)
  const VisibilityTimeout = String(visibilitySeconds)
  try {
    const dead = await client.send(
      new CreateQueueCommand({ QueueName: 'chaos-dead-letters', Attributes: { VisibilityTimeout } }),
    )
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: dead.QueueUrl, AttributeNames: ['QueueArn'] }),
    )
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: Attributes!.QueueArn!,
      maxReceiveCount: '50',
    })
    const jobs = await client.send(
      new CreateQueueCommand({ QueueName: 'chaos-jobs', Attributes: { VisibilityTimeout, RedrivePolicy } }),
    )
    return jobs.QueueUrl!
  } finally {
    client.destroy()
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
