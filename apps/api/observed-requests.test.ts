import { expect, test } from 'vitest'
import { operationOf } from './observed-requests.ts'

test.each([
  ['POST', '/v1/images?preset=thumbnail', 'postImage'],
  ['GET', '/v1/jobs/img_01', 'getJob'],
  ['HEAD', '/v1/jobs/img_01/', 'getJob'],
  ['GET', '/v1/jobs?limit=1', 'listJobs'],
  ['GET', '/v1/jobs/img_01/events', 'jobEvents'],
  ['GET', '/openapi.json', 'getOpenapi'],
  ['PUT', '/v1/jobs/img_01', 'none'],
  ['GET', '/openapi-json', 'none'],
  ['GET', '/v1/jobs/img_01/secret-of-a-tenant', 'none'],
  ['GET', '*', 'none'],
])('%s %s asks for %s', (method, url, operation) => {
  expect(operationOf(method, url)).toBe(operation)
})
