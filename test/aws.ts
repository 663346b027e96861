import { randomBytes } from 'node:crypto'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3'
import { CreateQueueCommand, DeleteQueueCommand, GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { startEmulatedAws } from '../infra/emulated-aws.ts'
import { createS3Client } from '../infra/s3/client.ts'
import { createSqsClient } from '../infra/sqs/client.ts'

export interface TestAws {
  endpointUrl: string
  /** A jobs' queue and the dead-letter queue that its redrive policy names, as URLs. */
  createQueues(settings: {
    visibilitySeconds: number
    maxReceiveCount: number
  }): Promise<{ jobsUrl: string; deadLettersUrl: string }>
  /** An empty bucket's name. */
  createBucket(): Promise<string>
  /** Removes everything that was made, with what lies in it. */
  stop(): Promise<void>
}

/**
 * SQS and S3 for one test file: an emulator in this process, or what `AWS_ENDPOINT_URL` names. Sets the credentials and
 * the region that the SDK looks for in the environment, unless they are set, for this process and what it starts.
 */
export async function startTestAws(): Promise<TestAws> {
  process.env.AWS_REGION ||= 'us-east-1'
  process.env.AWS_ACCESS_KEY_ID ||= 'test'
  process.env.AWS_SECRET_ACCESS_KEY ||= 'test'
  const given = process.env.AWS_ENDPOINT_URL
  const emulator = given ? null : await startEmulatedAws()
  const endpointUrl = given || emulator!.endpointUrl
  const sqs = createSqsClient(endpointUrl)
  const s3 = createS3Client(endpointUrl)
  const queueUrls: string[] = []
  const buckets: string[] = []

  async function createQueue(attributes: Record<string, string>): Promise<{ url: string; arn: string }> {
    const { QueueUrl: url } = await sqs.send(
      new CreateQueueCommand({ QueueName: uniqueName(), Attributes: attributes }),
    )
    queueUrls.push(url!)
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] }),
    )
    return { url: url!, arn: Attributes!.QueueArn! }
  }

  async function removeBucket(bucket: string): Promise<void> {
    while (true) {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }))
      if (Contents.length === 0) break
      const Objects = Contents.map(({ Key }) => ({ Key: Key! }))
      await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }))
    }
    await s3.send(new DeleteBucketCommand({ Bucket: bucket }))
  }

  return {
    endpointUrl,
    async createQueues({ visibilitySeconds, maxReceiveCount }) {
      const VisibilityTimeout = String(visibilitySeconds)
      const deadLetters = await createQueue({ VisibilityTimeout })
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadLetters.arn, maxReceiveCount })
      const jobs = await createQueue({ VisibilityTimeout, RedrivePolicy })
      return { jobsUrl: jobs.url, deadLettersUrl: deadLetters.url }
    },
    async createBucket() {
      const bucket = uniqueName()
      await s3.send(new CreateBucketCommand({ Bucket: bucket }))
      buckets.push(bucket)
      return bucket
    },
    async stop() {
      // An emulator of this process takes everything along.
      if (!emulator) {
        for (const url of queueUrls) await sqs.send(new DeleteQueueCommand({ QueueUrl: url }))
        for (const bucket of buckets) await removeBucket(bucket)
      }
      sqs.destroy()
      s3.destroy()
      await emulator?.stop()
    },
  }
}

function uniqueName(): string {
  return `img42-test-${randomBytes(6).toString('hex')}`
}
