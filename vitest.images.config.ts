import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** `npm run test:images`: every image there is through the rendering processes; the table that it prints is its answer. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/corpus/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    // The table is to be read, and times of images that were rendered beside others say nothing.
    maxWorkers: 1,
  },
})
