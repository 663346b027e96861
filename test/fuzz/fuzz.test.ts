import { expect, test } from 'vitest'
import { contractService } from '../contract/service.ts'
import { countLines, fuzz } from './fuzz.ts'

test('300 requests made from the document, valid and nearly valid, get no 5xx and no undeclared answer', async () => {
  const { url, key } = await contractService()
  // Another seed each time; a failure prints it.
  const { counts, failure } = await fuzz({ url, key, requests: 300, seed: Date.now() % 1_000_000_000 })
  expect(failure).toBeNull()
  // The requests reach what they are made for: both sides of the upload's door, and jobs that exist.
  const lines = countLines(counts).join('\n')
  expect(lines).toMatch(/POST \/v1\/images .*202/)
  expect(lines).toMatch(/GET \/v1\/jobs\/\{id\} .*200/)
})
