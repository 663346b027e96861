import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { HAS_PROC, isGone } from '../testing/processes.ts'
import type { Confinement } from './confinement.ts'
import { launchOf } from './launch.ts'

const PRISONER = fileURLToPath(new URL('prisoner.fixture.ts', import.meta.url))
const README = path.resolve(import.meta.dirname, '../../../../README.md')
const LANDLOCK = (await attempt('confinement')).files
const PERL = launchOf(PRISONER, 1e9).command !== process.execPath

/** Runs one attempt of the fixture in a sandbox, as a rendering process is run, and gives what came of it. */
async function attempt(what: string, argument = ''): Promise<{ got?: string } & Partial<Confinement>> {
  const child = prisoner(what, argument)
  const said = text(child.stdio[3] as Readable)
  const complaint = text(child.stderr as Readable)
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${signal ?? code}: ${await complaint}`)
  return JSON.parse(await said)
}

function prisoner(what: string, argument = '', memoryBytes = 1_500_000_000) {
  const { command, args } = launchOf(PRISONER, memoryBytes)
  return spawn(command, [...args, what, argument], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: { UV_THREADPOOL_SIZE: '1' },
    cwd: '/',
  })
}

describe.skipIf(!HAS_PROC)('a sandboxed process', () => {
  it('is nobody when it was started by root, of no group and without capabilities', async () => {
    const { got } = await attempt('identity')
    const user = process.getuid?.() === 0 ? 65_534 : process.getuid?.()
    expect(JSON.parse(got!)).toEqual({ users: [user], groups: [], capabilities: '0000000000000000' })
  })

  describe.skipIf(!PERL)('on Linux with Perl', () => {
    it('knows what holds', async () => {
      expect(await attempt('confinement')).toMatchObject({
        ...{ network: true, processes: true, noNewPrivileges: true },
        dataLimitBytes: expect.any(Number),
      })
    })

    it.each([
      ['connect by TCP', 'connect', 'EPERM'],
      ['listen', 'listen', 'EPERM'],
      ['send by UDP', 'send', 'EPERM'],
      ['connect to a socket of the file system', 'connect-unix', 'EPERM'],
      ['start a process', 'spawn', 'EPERM'],
      ['signal the process that started it', 'kill-parent', 'EPERM'],
      ['signal all processes that it may', 'kill-all', 'EPERM'],
      ['change the mode of a file', 'chmod', 'EPERM'],
    ])('cannot %s', async (_, what, code) => {
      const server = createServer().listen(0, '127.0.0.1')
      try {
        await once(server, 'listening')
        const { port } = server.address() as { port: number }
        expect(await attempt(what, String(port))).toEqual({ got: code })
      } finally {
        server.close()
      }
    })

    it.skipIf(!LANDLOCK).each(['/etc/passwd', '/proc/1/environ', '/proc/1/cmdline', README])(
      'cannot read %s',
      async (file) => {
        expect(await attempt('read', file)).toEqual({ got: 'EACCES' })
      },
    )

    it.skipIf(!LANDLOCK).each(['/tmp/img42-prisoner', '/dev/shm/img42-prisoner'])(
      'cannot write %s',
      async (file) => {
        expect(await attempt('write', file)).toEqual({ got: 'EACCES' })
      },
    )

    it('is refused more memory than it may take', async () => {
      const child = prisoner('allocate', String(400_000_000), 200_000_000)
      expect(JSON.parse(await text(child.stdio[3] as Readable))).toEqual({
        got: 'ERR_MEMORY_ALLOCATION_FAILED',
      })
    })

    it('may take the memory that is left to it', async () => {
      const child = prisoner('allocate', String(150_000_000), 200_000_000)
      expect(JSON.parse(await text(child.stdio[3] as Readable))).toEqual({ got: 'allowed' })
    })

    it('ends with its leash, though it hangs', async () => {
      const child = prisoner('hang')
      await once(child.stdio[3] as Readable, 'data')
      expect(isGone(child.pid!)).toBe(false)
      ;(child.stdio[4] as Readable).destroy()
      await eventually(() => isGone(child.pid!)).toBe(true)
    })

    it('ends with its leash, though it was stopped', async () => {
      const child = prisoner('wait')
      await once(child.stdio[3] as Readable, 'data')
      process.kill(child.pid!, 'SIGSTOP')
      ;(child.stdio[4] as Readable).destroy()
      await eventually(() => isGone(child.pid!)).toBe(true)
    })
  })
})
