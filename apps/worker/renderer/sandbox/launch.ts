import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { WANTED_ARENAS } from './arenas.ts'
import { callNumbers, seccompProgram } from './seccomp.ts'

/** What is started, in place of `node <entry>`. */
export interface Launch {
  command: string
  args: string[]
}

/**
 * How a rendering process is started: by `confine.pl`, where that can be (Linux on x64 and arm64, with Perl), and as it
 * is elsewhere. What of it holds depends on the system; the process itself finds out and says so.
 *
 * @param memoryBytes how much memory the decoder may take
 */
export function launchOf(entry: string, memoryBytes: number): Launch {
  const node = process.execPath
  const calls = callNumbers(process.arch)
  const filter = seccompProgram(process.arch)
  if (process.platform !== 'linux' || !calls || !filter || !existsSync(PERL))
    return { command: node, args: [entry] }
  const numbers = [calls.prlimit64, calls.prctl, RESERVED_BYTES + memoryBytes].map(String)
  return {
    command: PERL,
    args: [
      CONFINE,
      ...numbers,
      filter.toString('hex'),
      `execute:${node}`,
      ...READABLE,
      '--',
      node,
      NO_OPENSSL_CONFIG,
      entry,
    ],
  }
}

/** All that the process gets of the environment: above all no credentials. */
export const ENVIRONMENT: Record<string, string> = {
  // Two malloc arenas instead of eight a core: see docs/sandbox.md for what that saves.
  MALLOC_ARENA_MAX: String(WANTED_ARENAS),
  // It renders one image at a time.
  UV_THREADPOOL_SIZE: '1',
}

const PERL = '/usr/bin/perl'
const CONFINE = fileURLToPath(new URL('confine.pl', import.meta.url))

/**
 * What a process that does nothing has of what the limit counts: V8 reserves 512 MiB for code, writable and never used;
 * stacks and heaps of Node are the rest.
 */
const RESERVED_BYTES = 660_000_000

/** Node does not start when the system's file is there and cannot be read. */
const NO_OPENSSL_CONFIG = '--openssl-config=/dev/null'

/** All that can be read: the program, the libraries, and what the kernel tells a process of itself. */
const READABLE = [
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib'].map((folder) => `execute:${folder}`),
  'read:/etc/ld.so.cache',
  'read:/proc/self',
  'read:/dev/null',
  ...['apps/worker/renderer', 'core', 'node_modules', 'package.json'].map(
    (name) => `read:${path.resolve(import.meta.dirname, '../../../..', name)}`,
  ),
]
