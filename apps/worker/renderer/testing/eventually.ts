import { expect } from 'vitest'

/** Like `expect.poll`, with time enough for a machine that is busy with other tests: only what hangs takes it. */
export function eventually<T>(look: () => T) {
  return expect.poll(look, { timeout: 30_000 })
}
