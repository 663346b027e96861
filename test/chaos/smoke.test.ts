import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

test('20 seconds of kills, stops, cuts and outages under load: nothing lost, nothing done twice, everything drained', async () => {
  const program = fork(path.join(import.meta.dirname, 'main.ts'), ['--smoke'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const [said, [code]] = await Promise.all([text(program.stdout!), once(program, 'exit')])
  console.log(said)
  expect(said).toContain('lost 0, duplicated effects 0, unexpected 0')
  expect(code).toBe(0)
  const [, accepted] = /accepted (\d+)/.exec(said)!
  expect(Number(accepted)).toBeGreaterThan(0)
}, 360_000)
