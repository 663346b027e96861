import { defineConfig } from 'vitest/config'

/** The part of `npm run test:compose` that only a running project can show; test/compose/main.ts starts it. */
export default defineConfig({
  test: {
    include: ['test/compose/**/*.test.ts'],
    pool: 'forks',
    // They share the one engine.
    fileParallelism: false,
    // Nothing waits for these; they only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
})
