import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { assertBatch, refuseMessage } from '../../core/message-rules.ts'
import type {
  EntryRefusal,
  OutgoingMessage,
  Queue,
  ReceivedMessage,
  SendOutcome,
} from '../../core/ports/queue.ts'
import { sdkFailure } from '../sdk-failure.ts'
import { entryId, inOrder } from './outcomes.ts'

/** The `Queue` port on one SQS standard queue. A call that its signal ended rejects with the signal's reason. */
export function createSqsQueue(client: SQSClient, queueUrl: string): Queue {
  async function sendAcceptable(
    messages: readonly OutgoingMessage[],
    signal: AbortSignal,
  ): Promise<SendOutcome[]> {
    if (messages.length === 0) return []
    const command = new SendMessageBatchCommand({
      QueueUrl: queueUrl,
      Entries: messages.map(({ body, attributes }, index) => ({
        Id: entryId(index),
        MessageBody: body,
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, value]) => [
            name,
            { DataType: 'String', StringValue: value },
          ]),
        ),
      })),
    })
    const answer = await answerTo('SendMessageBatch', client.send(command, { abortSignal: signal }), signal)
    return inOrder(messages.length, answer, ({ MessageId }) => ({ ok: true, messageId: MessageId! }))
  }

  return {
    async send(messages, signal) {
      assertBatch(messages)
      const refusals = messages.map(refuseMessage)
      const acceptable = messages.filter((_, index) => refusals[index] === null)
      const outcomes = (await sendAcceptable(acceptable, signal)).values()
      return refusals.map((refusal): SendOutcome | EntryRefusal => refusal ?? outcomes.next().value!)
    },

    async receive({ max, waitSeconds }, signal) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: max,
        WaitTimeSeconds: waitSeconds,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      })
      const { Messages = [] } = await answerTo(
        'ReceiveMessage',
        client.send(command, { abortSignal: signal }),
        signal,
      )
      return Messages.map(received)
    },

    async changeVisibility(changes, signal) {
      assertBatch(changes)
      const command = new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: changes.map(({ receiptHandle, seconds }, index) => ({
          Id: entryId(index),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        })),
      })
      const answer = await answerTo(
        'ChangeMessageVisibilityBatch',
        client.send(command, { abortSignal: signal }),
        signal,
      )
      return inOrder(changes.length, answer, () => ({ ok: true }))
    },

    async delete(receiptHandles, signal) {
      assertBatch(receiptHandles)
      const command = new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: receiptHandles.map((receiptHandle, index) => ({
          Id: entryId(index),
          ReceiptHandle: receiptHandle,
        })),
      })
      const answer = await answerTo(
        'DeleteMessageBatch',
        client.send(command, { abortSignal: signal }),
        signal,
      )
      return inOrder(receiptHandles.length, answer, () => ({ ok: true }))
    },

    async depth(signal) {
      const command = new GetQueueAttributesCommand({
        QueueUrl: queueUrl,
        AttributeNames: [
          'ApproximateNumberOfMessages',
          'ApproximateNumberOfMessagesNotVisible',
          'ApproximateNumberOfMessagesDelayed',
        ],
      })
      const { Attributes = {} } = await answerTo(
        'GetQueueAttributes',
        client.send(command, { abortSignal: signal }),
        signal,
      )
      return {
        visible: Number(Attributes.ApproximateNumberOfMessages),
        inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
        delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed),
      }
    },
  }
}

async function answerTo<Answer>(call: string, answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw sdkFailure('queue', call, error, signal)
  }
}

function received({
  MessageId,
  ReceiptHandle,
  Body = '',
  MessageAttributes = {},
  Attributes = {},
}: Message): ReceivedMessage {
  return {
    messageId: MessageId!,
    receiptHandle: ReceiptHandle!,
    body: Body,
    attributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
    ),
    receiveCount: Number(Attributes.ApproximateReceiveCount),
  }
}
