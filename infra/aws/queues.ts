import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Queue, QueueEncryption, RedrivePermission } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { QUEUE_POLICY } from './queue-policy.ts'

/** The queue of one class of jobs, and where its messages go that nobody could handle. */
export class JobQueue extends Construct {
  readonly jobs: Queue
  readonly deadLetters: Queue

  constructor(scope: Construct, jobClass: string) {
    super(scope, `Queue-${jobClass}`)
    const jobsName = `img42-${jobClass}`
    this.deadLetters = new Queue(this, 'DeadLetters', {
      queueName: `${jobsName}-dead-letters`,
      retentionPeriod: Duration.seconds(QUEUE_POLICY.dead_letter_retention_seconds),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // By name: a reference to the queue would go round in a circle. No other queue's messages may end up here.
      redriveAllowPolicy: {
        redrivePermission: RedrivePermission.BY_QUEUE,
        sourceQueues: [
          Queue.fromQueueArn(
            this,
            'Source',
            Stack.of(this).formatArn({ service: 'sqs', resource: jobsName }),
          ),
        ],
      },
      removalPolicy: RemovalPolicy.RETAIN,
    })
    this.jobs = new Queue(this, 'Jobs', {
      queueName: jobsName,
      visibilityTimeout: Duration.seconds(QUEUE_POLICY.visibility_seconds),
      retentionPeriod: Duration.seconds(QUEUE_POLICY.retention_seconds),
      receiveMessageWaitTime: Duration.seconds(20),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: QUEUE_POLICY.max_receive_count },
      removalPolicy: RemovalPolicy.RETAIN,
    })
  }
}
