import { describe, expect, it } from 'vitest'
import { OWN_ID, seccompProgram } from './seccomp.ts'

const ALLOWED = 'allowed'
const NOT_PERMITTED = 'not permitted'
const NO_SUCH_CALL = 'no such call'
const KILLED = 'killed'
const ACTIONS = new Map([
  [0x7fff0000, ALLOWED],
  [0x00050001, NOT_PERMITTED],
  [0x00050026, NO_SUCH_CALL],
  [0x80000000, KILLED],
])
const X64 = 0xc000003e
const ARM64 = 0xc00000b7

/** What the kernel's interpreter would make of one call. */
function judge(program: Buffer, audit: number, call: number, firstArgument = 0): string | undefined {
  const data = new Map([
    [0, call],
    [4, audit],
    [16, firstArgument],
  ])
  let accumulator = 0
  for (let at = 0; ; at++) {
    const [code, ifTrue, ifFalse, value] = [
      program.readUInt16LE(8 * at),
      program[8 * at + 2]!,
      program[8 * at + 3]!,
      program.readUInt32LE(8 * at + 4),
    ]
    const jump = (yes: boolean) => {
      at += yes ? ifTrue : ifFalse
    }
    if (code === 0x20) accumulator = data.get(value)!
    else if (code === 0x15) jump(accumulator === value)
    else if (code === 0x25) jump(accumulator > value)
    else if (code === 0x45) jump((accumulator & value) !== 0)
    else return ACTIONS.get(value)
  }
}

describe.each([
  ['x64', X64, { read: 0, mmap: 9, socket: 41, clone: 56, kill: 62, tgkill: 234, fork: 57, execve: 59 }],
  [
    'arm64',
    ARM64,
    { read: 63, mmap: 222, socket: 198, clone: 220, kill: 129, tgkill: 131, fork: 9_999, execve: 221 },
  ],
])('the seccomp program for %s', (arch, audit, number) => {
  const program = seccompProgram(arch)!
  const answer = (call: number, firstArgument?: number) => judge(program, audit, call, firstArgument)

  it('is within what the kernel takes', () => {
    expect(program.length / 8).toBeLessThanOrEqual(4_096)
  })

  it.each([
    ['reads', number.read, 0, ALLOWED],
    ['mappings', number.mmap, 0, ALLOWED],
    ['the start of the program itself', number.execve, 0, ALLOWED],
    ['threads', number.clone, 0x3d0f00, ALLOWED],
    ['processes', number.clone, 0x1200011, NOT_PERMITTED],
    ['processes that share memory, as posix_spawn starts them', number.clone, 0x4111, NOT_PERMITTED],
    ['calls whose flags cannot be seen', 435, 0, NO_SUCH_CALL],
    ['io_uring', 425, 0, NO_SUCH_CALL],
    ['sockets', number.socket, 2, NOT_PERMITTED],
    ['signals to itself', number.kill, OWN_ID, ALLOWED],
    ['signals to others', number.kill, 1, NOT_PERMITTED],
    ['signals to its threads', number.tgkill, OWN_ID, ALLOWED],
    ['signals to others’ threads', number.tgkill, 1, NOT_PERMITTED],
    ['calls that the list does not know yet', 463, 0, NO_SUCH_CALL],
    ['calls of the x32 kind', 0x40000000 + 41, 0, NO_SUCH_CALL],
  ])('judges %s', (_, call, firstArgument, verdict) => {
    expect(answer(call, firstArgument)).toBe(verdict)
  })

  it('kills what calls by the numbers of another architecture', () => {
    expect(judge(program, 0x40000003, number.read)).toBe(KILLED)
  })
})

it('knows no other architectures', () => {
  expect(seccompProgram('riscv64')).toBeNull()
})
