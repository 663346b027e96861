import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { PROBLEM_MEANINGS, type ProblemMeaning } from '../../apps/api/schemas/problem-codes.ts'
import { JOB_ERRORS } from '../../core/job-errors.ts'
import { testImage } from '../images.ts'
import { contractService } from './service.ts'

const PAGE = readFileSync(path.join(import.meta.dirname, '../../docs/api.md'), 'utf8')
const rows = new Set(PAGE.split('\n').map((row) => row.replaceAll(/ *\| */g, '|')))

test('docs/api.md has each code with its status, whether it is retryable, and its meaning', () => {
  for (const [code, { status, retryable, meaning }] of Object.entries<ProblemMeaning>(PROBLEM_MEANINGS)) {
    expect(rows).toContain(`|\`${code}\`|${status}|${retryable ? 'yes' : 'no'}|${meaning}|`)
  }
  for (const [code, { retryable, meaning }] of Object.entries(JOB_ERRORS)) {
    expect(rows).toContain(`|\`${code}\`|${retryable ? 'yes' : 'no'}|${meaning}|`)
  }
})

test('the curl lines of docs/api.md do what they say', async () => {
  const { url, key } = await contractService()
  const folder = mkdtempSync(path.join(tmpdir(), 'img42-curl-'))
  try {
    writeFileSync(path.join(folder, 'photo.jpg'), (await testImage('jpeg-orientation-6')).bytes)
    // A key of its own: other runs against the same service have used the page's.
    const lines = /```sh\n(.*?)```/s.exec(PAGE)![1]!.replaceAll('photo-1', `photo-${crypto.randomUUID()}`)
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', lines], {
      cwd: folder,
      env: { ...process.env, IMG42_URL: url, IMG42_KEY: key },
      timeout: 50_000,
    })
    expect(stdout).toMatch(/^\{"job_id":"img_/)
    expect(stdout).toMatch(/Idempotent-Replayed: true/i)
    expect(stdout).toContain('"status":"SUCCEEDED","done":true')
    expect(stdout).toContain('"event":"succeeded"')
    expect(stdout).toContain('{"jobs":[')
    expect(stdout).toContain('204 No Content')
    expect(readFileSync(path.join(folder, 'thumbnail.jpg')).subarray(0, 3).toString('hex')).toBe('ffd8ff')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
