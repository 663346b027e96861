import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** `npm run test:races`: races and chaos on real processes, which take longer than `npm test` may. */
export default defineConfig({
  test: {
    ...config.test,
    include: [
      ...['test/races/**/*.test.ts', 'test/chaos/**/*.test.ts'],
      'test/simulation/postgres/crashes.test.ts',
    ],
    exclude: ['**/node_modules/**'],
  },
})
