import type { ObjectStore } from '../../core/ports/object-store.ts'
import { ConfigError } from '../config.ts'
import { createS3Client } from './client.ts'
import { createS3Store } from './s3-store.ts'

export interface S3Options {
  bucket: string
  /** An emulator's; null for AWS. */
  endpointUrl: string | null
}

/**
 * The store on a bucket. Whether the bucket can be reached shows at the first call.
 *
 * @throws {ConfigError} when the environment names no region
 */
export async function openS3Store({ bucket, endpointUrl }: S3Options): Promise<ObjectStore> {
  const client = createS3Client(endpointUrl)
  await client.config.region().catch(() => {
    throw new ConfigError(['AWS_REGION is missing; S3_BUCKET needs it.'])
  })
  return createS3Store(client, bucket)
}
