import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    // What takes long has a command of its own: `npm run test:races`.
    exclude: ['**/node_modules/**', '.img42/**', 'test/races/**', 'test/chaos/**', 'infra/aws/**'],
    globalSetup: 'test/global-setup.ts',
    // Processes rather than threads: tests send signals, change folders, and load sharp, which is native.
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism()),
    // Nothing waits for these; they only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
})
