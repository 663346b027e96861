import { S3Client } from '@aws-sdk/client-s3'
import { SILENT } from '../sdk-failure.ts'

/**
 * The client of every call to S3.
 *
 * @param endpointUrl an emulator's; null for the AWS of the region that the environment names
 */
export function createS3Client(endpointUrl: string | null): S3Client {
  return new S3Client({
    // Emulators are reached by a name or an address that has no subdomain for each bucket.
    ...(endpointUrl === null ? {} : { endpoint: endpointUrl, forcePathStyle: true }),
    // The service keeps a SHA-256 of its own for every object; the SDK's checksums cost 2 ms of CPU a download beside it.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A try and two more, within the caller's deadline. The SDK never tries a streamed upload again: its bytes are gone.
    maxAttempts: 3,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: 2_000,
      // No other timeout: how long a transfer may take, or pause for a slow client, is the caller's to say in its signal.
      // A download holds a connection for as long as its reader is slow, and must not keep the uploads waiting.
      httpAgent: { maxSockets: 512 },
      httpsAgent: { maxSockets: 512 },
    },
  })
}
