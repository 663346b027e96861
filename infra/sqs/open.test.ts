import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { startTestAws, type TestAws } from '../../test/aws.ts'
import { startStubServer } from '../../test/stub-server.ts'
import { ConfigError } from '../config.ts'
import { createSqsClient } from './client.ts'
import { openSqsQueues } from './open.ts'
import { createSqsQueue } from './sqs-queue.ts'

const LONG = AbortSignal.timeout(60_000)

describe('opening the queues on SQS', () => {
  let aws: TestAws
  beforeAll(async () => {
    aws = await startTestAws()
  })
  afterAll(() => aws.stop())

  const open = (queueUrl: string, endpointUrl = aws.endpointUrl) =>
    openSqsQueues({ queueUrl, endpointUrl, visibilitySeconds: 30, withinMs: 10_000 })

  const refusal = (queueUrl: string) =>
    open(queueUrl).then(
      () => null,
      (error: unknown) => error,
    )

  it('finds the dead-letter queue by the redrive policy', async () => {
    const { jobsUrl, deadLettersUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 50 })
    const { deadLetters } = await open(jobsUrl)
    const same = createSqsQueue(createSqsClient(aws.endpointUrl), deadLettersUrl)
    await same.send([{ body: 'dead', attributes: {} }], LONG)
    expect(await deadLetters.receive({ max: 1, waitSeconds: 5 }, LONG)).toMatchObject([{ body: 'dead' }])
  })

  it('works where the host inside the queue’s URL is nowhere', async () => {
    const { jobsUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 50 })
    const elsewhere = new URL(jobsUrl)
    elsewhere.hostname = elsewhere.hostname.replace(/localhost$|127\.0\.0\.1$/, 'nowhere.invalid')
    const { jobs } = await open(elsewhere.href)
    await jobs.send([{ body: 'x', attributes: {} }], LONG)
    expect(await jobs.receive({ max: 1, waitSeconds: 5 }, LONG)).toMatchObject([{ body: 'x' }])
  })

  it('refuses a queue without a redrive policy', async () => {
    const { deadLettersUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 50 })
    expect(await refusal(deadLettersUrl)).toEqual(
      new ConfigError(['The queue has no redrive policy; it needs one that names a dead-letter queue.']),
    )
  })

  it('refuses a visibility timeout other than the protocol’s and a maxReceiveCount near the budget', async () => {
    const { jobsUrl } = await aws.createQueues({ visibilitySeconds: 20, maxReceiveCount: 9 })
    expect(await refusal(jobsUrl)).toEqual(
      new ConfigError([
        "The queue's VisibilityTimeout is 20 s, but VISIBILITY_SECONDS is 30; they have to be the same.",
        "The queue's maxReceiveCount is 9; it has to be 10 or more (50 is a good value).",
      ]),
    )
  })

  it('takes a maxReceiveCount that the policy holds as text', async () => {
    const { jobsUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 9 })
    const client = createSqsClient(aws.endpointUrl)
    const { deadLettersUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 9 })
    const name = deadLettersUrl.split('/').at(-1)
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:${process.env.AWS_REGION}:000000000000:${name}`,
      maxReceiveCount: '50',
    })
    await client.send(new SetQueueAttributesCommand({ QueueUrl: jobsUrl, Attributes: { RedrivePolicy } }))
    expect(await refusal(jobsUrl)).toBeNull()
  })

  it('calls it SQS’s failure when the queue is not there, and when nobody answers in time', async () => {
    const { jobsUrl } = await aws.createQueues({ visibilitySeconds: 30, maxReceiveCount: 50 })
    expect(await refusal(`${jobsUrl}-gone`)).toBeInstanceOf(DependencyError)
    const hung = await startStubServer()
    const opened = openSqsQueues({
      queueUrl: jobsUrl,
      endpointUrl: hung.url,
      visibilitySeconds: 30,
      withinMs: 200,
    })
    await expect(opened).rejects.toThrow(DependencyError)
    await hung.stop()
  })
})
