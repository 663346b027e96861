import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, it } from 'vitest'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A process that logs 100 lines of 1 kB every few milliseconds into a pipe that nobody reads yet. */
function startLogging(): ChildProcess {
  const child = fork(path.join(import.meta.dirname, 'log-output.fixture.ts'), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  children.push(child)
  return child
}

async function ask(child: ChildProcess): Promise<{ lines: number; waiting: number }> {
  const answer = once(child, 'message')
  child.send('how many')
  return (await answer)[0] as { lines: number; waiting: number }
}

/** Asks until it has logged as much: it answers meanwhile. */
async function hasLogged(child: ChildProcess, lines: number): Promise<number> {
  for (let most = 0; ; ) {
    const { lines: logged, waiting } = await ask(child)
    most = Math.max(most, waiting)
    if (logged >= lines) return most
  }
}

it('a reader that reads nothing holds nobody up, and megabytes of lines are not kept for it', async () => {
  const child = startLogging()
  expect(await hasLogged(child, 10_000)).toBeLessThan(1_200_000)
})

it('a reader that comes back is told how many lines it missed', async () => {
  const child = startLogging()
  await hasLogged(child, 5_000)
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  for (let line = 0; ; ) {
    const { msg, lines: missed, line: number } = JSON.parse((await lines.next()).value as string)
    if (msg === 'log lines left out') {
      const next = JSON.parse((await lines.next()).value as string)
      expect(next.line).toBe(line + missed + 1)
      return
    }
    line = number
  }
})

it('a reader that is gone ends nothing', async () => {
  const child = startLogging()
  child.stdout!.destroy()
  await hasLogged(child, 5_000)
})

it('the end of a process waits for a slow reader, and not for ever', async () => {
  const child = startLogging()
  await hasLogged(child, 5_000)
  child.send('end')
  expect(await once(child, 'exit')).toEqual([0, null])
})
