import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** `npm run test:deploys`: the previous release's apps beside this version's, on this version's schema. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/deploys/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
  },
})
