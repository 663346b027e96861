import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** The second half of `npm run test:observed`: metrics, traces, and what each rule waits for, of the real apps. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/observed/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
  },
})
