import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mallocArenas } from './arenas.ts'

const IS_GLIBC =
  existsSync('/proc/self/maps') &&
  'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header

/** Of a Node that has just started, with this environment. */
function arenasOf(env: Record<string, string>): number {
  const script = `console.log((await import(${JSON.stringify(fileURLToPath(new URL('arenas.ts', import.meta.url)))})).mallocArenas())`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env,
    encoding: 'utf8',
  })
  return Number(stdout)
}

describe('the number of malloc arenas', () => {
  it.skipIf(!IS_GLIBC)('is what MALLOC_ARENA_MAX allows, and more without it', () => {
    expect(arenasOf({ MALLOC_ARENA_MAX: '1' })).toBe(1)
    expect(arenasOf({ MALLOC_ARENA_MAX: '2' })).toBe(2)
    expect(arenasOf({})).toBeGreaterThan(2)
  })

  it('is told by the heaps alone: pages of V8 and other mappings are none', () => {
    const maps = [
      '1f0d6c000000-1f0d6c040000 rw-p 00000000 00:00 0 ',
      '7f15bc000000-7f15bc021000 rw-p 00000000 00:00 0 ',
      '7f15bc021000-7f15c0000000 ---p 00000000 00:00 0 ',
      '7f15c4000000-7f15c4021000 rw-p 00001000 08:01 77 /usr/lib/libc.so.6',
      '7f15c4021000-7f15c8000000 ---p 00000000 00:00 0 ',
    ]
    expect(mallocArenas(maps.join('\n'))).toBe(2)
    expect(mallocArenas('')).toBe(1)
    expect(mallocArenas(null)).toBeNull()
  })
})
