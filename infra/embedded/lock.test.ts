import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import { holdLock, LockHeldError } from './lock.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'img42-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('one holder at a time, until it releases', () => {
  const file = path.join(folder, 'one')
  const lock = holdLock(file)
  expect(() => holdLock(file)).toThrow(LockHeldError)
  expect(() => holdLock(file)).toThrow(`held by process ${process.pid}`)
  lock.release()
  lock.release()
  holdLock(file).release()
})

test('a lock whose holder was killed is free', async () => {
  const file = path.join(folder, 'killed')
  const script = `import { holdLock } from ${JSON.stringify(path.join(import.meta.dirname, 'lock.ts'))}
    holdLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 60_000)`
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  expect(() => holdLock(file)).toThrow(`held by process ${holder.pid}`)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  holdLock(file).release()
})

test('a lock that nobody keeps a reference to stays held', () => {
  const file = path.join(folder, 'forgotten')
  holdLock(file)
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  expect(() => holdLock(file)).toThrow(LockHeldError)
})
