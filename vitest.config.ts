import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    // What takes long, and what can be held to another base URL, has a command of its own: `npm run test:races`,
    // `test:contract`, `test:images`, `test:observed`, `test:deploys`, `test:aws`.
    exclude: [
      ...['**/node_modules/**', '.img42/**', 'client/dist/**', 'infra/aws/**'],
      ...['test/races/**', 'test/chaos/**', 'test/contract/**', 'test/fuzz/**', 'test/security/**'],
      'test/simulation/postgres/crashes.test.ts',
      ...['test/corpus/**', 'test/observed/**', 'test/deploys/**', 'test/compose/**'],
    ],
    globalSetup: 'test/global-setup.ts',
    // Processes rather than threads: tests send signals, change folders, and load sharp, which is native.
    pool: 'forks',
    // One more than there are cores: tests of whole processes wait most of the time.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    // Nothing waits for these; they only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
})
