import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestAws, type TestAws } from '../test/aws.ts'
import { readConfig } from './config.ts'
import { openObjectStore } from './object-store.ts'
import { createS3Client } from './s3/client.ts'
import { createS3Store } from './s3/s3-store.ts'

const LONG = AbortSignal.timeout(60_000)
const OBJECT = { key: 'originals/img_1', body: Buffer.from('x'), contentType: 'image/png' }

describe('the object store of a configuration', () => {
  let aws: TestAws
  let DATA_DIR: string
  beforeAll(async () => {
    aws = await startTestAws()
    DATA_DIR = await mkdtemp(path.join(tmpdir(), 'img42-test-'))
  })
  afterAll(async () => {
    await aws.stop()
    await rm(DATA_DIR, { recursive: true })
  })

  const config = (env: NodeJS.ProcessEnv) =>
    readConfig({ DATABASE_URL: 'postgres://localhost/img42', DATA_DIR, ...env }, 0)

  it('is a folder below DATA_DIR unless a bucket is named', async () => {
    const store = await openObjectStore(config({}))
    await store.put(OBJECT, LONG)
    expect(await readFile(path.join(DATA_DIR, 'objects/stored', OBJECT.key), 'utf8')).toBe('x')
  })

  it('is the bucket that S3_BUCKET names, at AWS_ENDPOINT_URL', async () => {
    const S3_BUCKET = await aws.createBucket()
    const store = await openObjectStore(config({ S3_BUCKET, AWS_ENDPOINT_URL: aws.endpointUrl }))
    await store.put(OBJECT, LONG)
    const same = createS3Store(createS3Client(aws.endpointUrl), S3_BUCKET)
    expect(await same.list({ prefix: '' }, LONG)).toMatchObject([{ key: OBJECT.key }])
  })
})
