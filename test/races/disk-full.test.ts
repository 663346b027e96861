import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'

// Real processes, several of them: a busy machine takes its time to start them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

let stack: Stack | null = null
/** A file system of its own, of two megabytes; null where this user may not mount one. */
let disk: string | null

beforeEach(() => {
  const folder = mkdtempSync(path.join(tmpdir(), 'img42-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder], { stdio: 'ignore' })
    disk = folder
  } catch {
    rmdirSync(folder)
    disk = null
  }
})
afterEach(async () => {
  await stack?.close()
  if (!disk) return
  execFileSync('umount', ['-l', disk])
  rmdirSync(disk)
})

test('a full disk refuses uploads and gives attempts back; once there is room, every accepted job is done', async ({
  skip,
}) => {
  if (!disk) return skip('a full disk needs a file system of its own, and this user may not mount one')
  const { bytes, contentType } = await testImage('jpeg-orientation-6')
  stack = await startStack({ CONCURRENCY: '1', S3_BUCKET: '', DATA_DIR: disk })
  const files = { S3_BUCKET: '', DATA_DIR: disk }
  await Promise.all([stack.start('api', files), stack.start('reconciler', files)])
  const jobs = [await stack.accept(bytes, contentType), await stack.accept(bytes, contentType)]
  const filler = path.join(disk, 'filler')
  fill(disk, filler)

  const refused = await stack.post(bytes, contentType)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  await stack.start('worker', files)
  await until(
    async () => (await stack!.query(`select 1 from job_events where event = 'put_back'`)).length > 0,
  )
  expect(await stack.query(`select 1 from jobs where status = 'FAILED' or attempts > 1`)).toEqual([])

  rmSync(filler)
  for (const jobId of jobs) {
    expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
    expect((await stack.get(`/v1/images/${jobId}/thumbnail`)).status).toBe(200)
  }
  expect(await stack.query('select 1 from jobs')).toHaveLength(jobs.length)
})

/** Takes every free block, to the last. */
function fill(disk: string, file: string): void {
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(file, Buffer.alloc(bavail * bsize))
}
