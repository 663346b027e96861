import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** The second half of `npm run test:rules`: what each rule waits for, caused against the real apps. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/alerts/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
  },
})
