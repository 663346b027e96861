import path from 'node:path'
import type { ObjectStore } from '../core/ports/object-store.ts'
import type { Config } from './config.ts'
import { makeDataDir } from './data-dir.ts'
import { openFileStore } from './files/file-store.ts'
import { openS3Store } from './s3/open.ts'

/**
 * The object store that the configuration names: an S3 bucket, or files below the data folder.
 *
 * @throws {ConfigError} when S3 lacks a region
 * @throws {DependencyError} when the folder cannot be made or read; an error that names DATA_DIR when that is the cause
 */
export async function openObjectStore(config: Config): Promise<ObjectStore> {
  const { s3Bucket: bucket, awsEndpointUrl: endpointUrl, dataDir } = config
  if (bucket !== null) return openS3Store({ bucket, endpointUrl })
  makeDataDir(dataDir)
  return openFileStore(path.join(dataDir, 'objects'))
}
