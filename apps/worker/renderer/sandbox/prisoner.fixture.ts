// What sandbox.test.ts runs in a sandbox: tries one thing and says on descriptor 3 what came of it, by the error's code.
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { confinementOf, dropRoot } from './confinement.ts'

const [what, argument = ''] = process.argv.slice(2)

const ATTEMPTS: Record<string, () => unknown> = {
  connect: () => once(connect(Number(argument), '127.0.0.1'), 'connect'),
  'connect-unix': () => once(connect('/nowhere'), 'connect'),
  listen: () => once(createServer().listen(0, '127.0.0.1'), 'listening'),
  send: async () => {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
  },
  spawn: () => once(spawn('/bin/true'), 'exit'),
  'kill-parent': () => process.kill(process.ppid, 0),
  'kill-all': () => process.kill(-1, 0),
  chmod: () => chmodSync('/tmp', 0o1777),
  read: () => readFileSync(argument),
  write: () => writeFileSync(argument, 'x'),
  allocate: () => Buffer.alloc(Number(argument), 1),
}

function identity(): string {
  const threads = readdirSync('/proc/self/task')
  const status = (thread: string) => readFileSync(`/proc/self/task/${thread}/status`, 'latin1')
  const users = threads.map((thread) => Number(/^Uid:\s*(\d+)/m.exec(status(thread))?.[1]))
  return JSON.stringify({
    users: [...new Set(users)],
    groups: process.getgroups?.().filter((group) => group !== process.getgid?.()),
    capabilities: /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1],
  })
}

function say(answer: object): void {
  writeSync(3, JSON.stringify(answer))
}

dropRoot()
if (what === 'confinement') {
  say(await confinementOf())
} else if (what === 'identity') {
  say({ got: identity() })
} else if (what === 'hang') {
  say({})
  for (;;);
} else if (what === 'wait') {
  say({})
  setInterval(() => {}, 1_000)
} else {
  try {
    await ATTEMPTS[what!]!()
    say({ got: 'allowed' })
  } catch (error) {
    say({ got: (error as NodeJS.ErrnoException).code ?? String(error) })
  }
  process.exit(0)
}
if (what === 'confinement' || what === 'identity') process.exit(0)
