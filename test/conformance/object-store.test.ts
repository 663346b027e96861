import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { openFileStore } from '../../infra/files/file-store.ts'
import { createS3Client } from '../../infra/s3/client.ts'
import { createS3Store } from '../../infra/s3/s3-store.ts'
import { startTestAws, type TestAws } from '../aws.ts'
import { deviations } from './emulators.ts'
import { objectStoreConformance } from './object-store.ts'

const known = await deviations()

describe('with S3', () => {
  let aws: TestAws
  beforeAll(async () => {
    aws = await startTestAws()
  })
  afterAll(() => aws.stop())

  objectStoreConformance(
    'S3',
    async () => {
      const client = createS3Client(aws.endpointUrl)
      return {
        store: createS3Store(client, await aws.createBucket()),
        close: async () => client.destroy(),
      }
    },
    known.objectStore,
  )
})

objectStoreConformance('files', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'img42-test-'))
  return { store: await openFileStore(folder), close: () => rm(folder, { recursive: true }) }
})
