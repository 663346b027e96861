import { SQSClient } from '@aws-sdk/client-sqs'
import { SILENT } from '../sdk-failure.ts'

/**
 * The client of every call to SQS.
 *
 * @param endpointUrl an emulator's; null for the AWS of the region that the environment names
 */
export function createSqsClient(endpointUrl: string | null): SQSClient {
  return new SQSClient({
    // Set on the client itself, because the SDK otherwise sends each call to the host inside the QueueUrl: a container
    // that reaches its emulator by another name than the one that made the queue would send to nowhere.
    ...(endpointUrl === null ? {} : { endpoint: endpointUrl, useQueueUrlAsEndpoint: false }),
    // A try and two more within the caller's deadline: enough for a connection that had died idle. Longer outages are
    // the callers' to sit out. A send that is tried again may send twice, as the queue itself may.
    maxAttempts: 3,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: 2_000,
      // Longer than the longest poll (20 s). Every call has a shorter deadline in its signal; this one is for none.
      requestTimeout: 30_000,
      throwOnRequestTimeout: true,
      // A worker's long poll, heartbeats and deletes each hold a connection.
      httpAgent: { maxSockets: 256 },
      httpsAgent: { maxSockets: 256 },
    },
  })
}
