import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** `npm run test:localstack`: what depends on SQS and S3, against the `AWS_ENDPOINT_URL` that it sets. */
export default defineConfig({
  test: {
    ...config.test,
    include: [
      ...['test/conformance/queue.test.ts', 'test/conformance/object-store.test.ts'],
      ...['infra/sqs/**/*.test.ts', 'infra/s3/**/*.test.ts'],
      ...['test/end-to-end/**/*.test.ts', 'test/contract/**/*.test.ts'],
    ],
    exclude: ['**/node_modules/**'],
    // One process in Python answers all of them, and what waits for it for too long calls it an outage.
    maxWorkers: 2,
  },
})
