import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import type { JobQueue } from './queues.ts'

export type AppName = 'api' | 'worker' | 'reconciler'

/** What each app calls, and nothing else: migrations and the database need no permission of AWS. */
export function permissionsOf(bucket: Bucket, queue: JobQueue): Record<AppName, PolicyStatement[]> {
  const originals = bucket.arnForObjects('originals/*')
  const outputs = bucket.arnForObjects('outputs/*')
  const { jobs, deadLetters } = queue
  // Without it S3 answers 403 instead of 404 for an object that is gone, and a missing original would look like an outage.
  const list = allow(['s3:ListBucket'], [bucket.bucketArn])
  const open = [
    allow(['sqs:GetQueueAttributes'], [jobs.queueArn]),
    allow(['sqs:GetQueueUrl'], [deadLetters.queueArn]),
  ]
  return {
    api: [
      list,
      allow(['s3:PutObject', 's3:AbortMultipartUpload'], [originals]),
      allow(['s3:GetObject', 's3:DeleteObject'], [originals, outputs]),
    ],
    worker: [
      list,
      allow(['s3:GetObject'], [originals]),
      allow(['s3:PutObject', 's3:AbortMultipartUpload'], [outputs]),
      ...open,
      allow(['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'], [jobs.queueArn]),
    ],
    reconciler: [
      list,
      allow(['s3:DeleteObject'], [originals, outputs]),
      ...open,
      allow(['sqs:SendMessage'], [jobs.queueArn]),
      allow(
        ['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'],
        [deadLetters.queueArn],
      ),
    ],
  }
}

function allow(actions: string[], resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources })
}
