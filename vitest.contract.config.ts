import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/**
 * `npm run test:contract`: the contract from outside, against `IMG42_URL` or a service that the run starts; and attacks on
 * services of their own.
 */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/contract/**/*.test.ts', 'test/fuzz/**/*.test.ts', 'test/security/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
  },
})
