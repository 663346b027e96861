import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Timing } from '../../core/timing.ts'
import { startEmulatedAws } from '../emulated-aws.ts'

export interface Emulator {
  /** What makes an app use it. */
  env: Record<string, string>
  /** Ends it, and with it everything that it held: it keeps nothing. */
  stop(): Promise<void>
}

/** Starts SQS and S3 in this process, on a free port of 127.0.0.1, with the queues and the bucket that img42 uses. */
export async function startEmulator(timing: Timing): Promise<Emulator> {
  const { endpointUrl: endpoint, stop } = await startEmulatedAws()
  const credentials = { accessKeyId: 'emulated', secretAccessKey: 'emulated' }
  const options = { endpoint, region: REGION, credentials, forcePathStyle: true }
  const sqs = new SQSClient(options)
  const s3 = new S3Client(options)
  try {
    const deadLetters = await createQueue(sqs, 'img42-dead-letters', {
      MessageRetentionPeriod: String(timing.deadLetterRetentionMs / 1_000),
    })
    const jobs = await createQueue(sqs, 'img42-jobs', {
      VisibilityTimeout: String(timing.visibilitySeconds),
      MessageRetentionPeriod: String(timing.queueRetentionMs / 1_000),
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetters.arn, maxReceiveCount: '50' }),
    })
    await s3.send(new CreateBucketCommand({ Bucket: BUCKET }))
    return {
      env: {
        // A stopping worker lets its poll of SQS end, and Ctrl-C at a desk is not to wait for 20 seconds.
        POLL_SECONDS: '2',
        QUEUE_URL: jobs.url,
        S3_BUCKET: BUCKET,
        AWS_ENDPOINT_URL: endpoint,
        AWS_REGION: REGION,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  } finally {
    sqs.destroy()
    s3.destroy()
  }
}

const REGION = 'us-east-1'
const BUCKET = 'img42'

async function createQueue(
  sqs: SQSClient,
  name: string,
  attributes: Record<string, string>,
): Promise<{ url: string; arn: string }> {
  const { QueueUrl: url } = await sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
  )
  const answer = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] }),
  )
  return { url: url!, arn: answer.Attributes!.QueueArn! }
}
