import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { type StubServer, startStubServer } from '../../test/stub-server.ts'
import { createSqsClient } from './client.ts'
import { createSqsQueue } from './sqs-queue.ts'

const SECRET = 'not-to-be-told'
process.env.AWS_REGION ||= 'us-east-1'
process.env.AWS_ACCESS_KEY_ID = 'AKIDTEST'
process.env.AWS_SECRET_ACCESS_KEY = SECRET

const LONG = AbortSignal.timeout(60_000)
const message = (body: string) => ({ body, attributes: {} })

/** What every queue of the port does is in test/conformance; here SQS answers as no emulator does. */
describe('a queue on SQS', () => {
  let server: StubServer | undefined
  afterEach(() => server?.stop())

  /** A queue whose SQS answers each call with the status and the body, and what it was asked. */
  async function queueAnswering(status: number, answer: object) {
    const calls: Record<string, unknown>[] = []
    server = await startStubServer(async (request, response) => {
      const chunks = await request.toArray()
      calls.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer))
    })
    return { queue: queueAt(server.url), calls }
  }

  function queueAt(endpointUrl: string) {
    return createSqsQueue(createSqsClient(endpointUrl), 'http://nowhere.invalid:9/000000000000/jobs')
  }

  it('is asked at the endpoint, not at the host inside its URL', async () => {
    const { queue, calls } = await queueAnswering(200, {
      Attributes: {
        ApproximateNumberOfMessages: '3',
        ApproximateNumberOfMessagesNotVisible: '2',
        ApproximateNumberOfMessagesDelayed: '1',
      },
    })
    expect(await queue.depth(LONG)).toEqual({ visible: 3, inFlight: 2, delayed: 1 })
    expect(calls).toMatchObject([{ QueueUrl: 'http://nowhere.invalid:9/000000000000/jobs' }])
  })

  it('gives outcomes in the order asked, whatever the order of the answer; a missing one is refused', async () => {
    const { queue } = await queueAnswering(200, {
      Successful: [
        { Id: '3', MessageId: 'third', MD5OfMessageBody: '2510c39011c5be704182423e3a695e91' },
        { Id: '0', MessageId: 'zeroth', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' },
      ],
      Failed: [{ Id: '1', SenderFault: true, Code: 'InvalidMessageContents' }],
    })
    const messages = ['a', 'b', 'c', 'h'].map(message)
    expect(await queue.send(messages, LONG)).toEqual([
      { ok: true, messageId: 'zeroth' },
      { ok: false, code: 'InvalidMessageContents', permanent: true },
      { ok: false, code: 'NoAnswer', permanent: false },
      { ok: true, messageId: 'third' },
    ])
  })

  it('sends what can be sent and refuses the rest by itself', async () => {
    const { queue, calls } = await queueAnswering(200, {
      Successful: [
        { Id: '0', MessageId: 'first', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' },
        { Id: '1', MessageId: 'second', MD5OfMessageBody: '92eb5ffee6ae2fec3ad71c777531578f' },
      ],
    })
    const outcomes = await queue.send([message('a'), message('x'.repeat(300_000)), message('b')], LONG)
    expect(outcomes).toEqual([
      { ok: true, messageId: 'first' },
      { ok: false, code: 'MessageTooLong', permanent: true },
      { ok: true, messageId: 'second' },
    ])
    expect(calls).toMatchObject([{ Entries: [{ MessageBody: 'a' }, { MessageBody: 'b' }] }])
  })

  it('asks nobody when nothing of a batch can be sent', async () => {
    const { queue, calls } = await queueAnswering(500, {})
    expect(await queue.send([message('')], LONG)).toMatchObject([{ ok: false, permanent: true }])
    expect(calls).toEqual([])
  })

  it.each([
    [{ SenderFault: true, Code: 'InvalidParameterValue' }, true],
    [{ SenderFault: true, Code: 'AWS.SimpleQueueService.InvalidMessageContents' }, true],
    [{ SenderFault: true, Code: 'InvalidParameterValueException' }, true],
    [{ SenderFault: true, Code: 'KmsAccessDenied' }, false],
    [{ SenderFault: true, Code: 'AccessDenied' }, false],
    [{ SenderFault: true, Code: 'OverLimit' }, false],
    [{ SenderFault: true, Code: 'RequestThrottled' }, false],
    [{ SenderFault: true, Code: 'MissingParameter' }, false],
    [{ SenderFault: false, Code: 'InvalidParameterValue' }, false],
    [{ SenderFault: false, Code: 'InternalError' }, false],
    [{}, false],
  ])('calls the refusal %o permanent: %s', async (failure, permanent) => {
    const { queue } = await queueAnswering(200, { Failed: [{ Id: '0', ...failure }] })
    expect(await queue.send([message('x')], LONG)).toMatchObject([{ ok: false, permanent }])
    const change = { receiptHandle: 'handle', seconds: 1 }
    expect(await queue.changeVisibility([change], LONG)).toMatchObject([{ ok: false, permanent }])
    expect(await queue.delete(['handle'], LONG)).toMatchObject([{ ok: false, permanent }])
  })

  it.each([
    [400, 'AccessDeniedException'],
    [400, 'com.amazonaws.sqs#QueueDoesNotExist'],
    [400, 'com.amazonaws.sqs#OverLimit'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ])('calls status %i with %s the queue’s failure, and tells no secret', async (status, type) => {
    const { queue } = await queueAnswering(status, { __type: type, message: 'the reason' })
    const failure = await queue.receive({ max: 1, waitSeconds: 0 }, LONG).catch((error) => error)
    expect(failure).toBeInstanceOf(DependencyError)
    expect(failure).toMatchObject({
      dependency: 'queue',
      message: expect.stringMatching(/^ReceiveMessage: .*the reason/),
      cause: expect.any(Error),
    })
    const told = inspect(failure, { depth: 20, showHidden: true })
    expect(told).not.toMatch(new RegExp(`${SECRET}|AKIDTEST|authorization`, 'i'))
  })

  it('tries a call again that a server refused for the moment', async () => {
    let calls = 0
    server = await startStubServer((_request, response) => {
      const status = ++calls === 1 ? 503 : 200
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end('{}')
    })
    expect(await queueAt(server.url).receive({ max: 1, waitSeconds: 0 }, LONG)).toEqual([])
    expect(calls).toBe(2)
  })

  it('calls a server that is not there the queue’s failure', async () => {
    const gone = await startStubServer()
    await gone.stop()
    await expect(queueAt(gone.url).depth(LONG)).rejects.toThrow(DependencyError)
  })

  it('rejects with the signal’s reason while a server hangs, and closes the connection', async () => {
    server = await startStubServer()
    const { connected, url, open } = server
    const queue = queueAt(url)
    const abort = new AbortController()
    const reason = new Error('enough')
    const calls = [
      queue.send([message('x')], abort.signal),
      queue.receive({ max: 1, waitSeconds: 20 }, abort.signal),
      queue.changeVisibility([{ receiptHandle: 'handle', seconds: 1 }], abort.signal),
      queue.delete(['handle'], abort.signal),
      queue.depth(abort.signal),
    ]
    connected.then(() => abort.abort(reason))
    for (const call of await Promise.allSettled(calls)) expect(call).toEqual({ status: 'rejected', reason })
    await vi.waitUntil(() => open() === 0)
  })
})
