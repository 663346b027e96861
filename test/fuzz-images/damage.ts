import type { SeededRandom } from '../simulation/seeded-random.ts'

/** What happened to a file, in a word or two, and what is left of it. */
export interface Damaged {
  how: string
  bytes: Buffer
}

type Damage = (bytes: Buffer, random: SeededRandom, another: Buffer) => Buffer

/** How files are damaged: on disks, on the way, by programs that write them, and by people who mean harm. */
const DAMAGES: Record<string, Damage> = {
  'flipped bits': (bytes, random) => {
    for (let i = random.int(1, 8); i > 0; i--) bytes[placeIn(bytes, random)]! ^= 1 << random.int(0, 7)
    return bytes
  },
  'bytes of chance': (bytes, random) => {
    const at = placeIn(bytes, random)
    bytes.set(random.bytes(Math.min(random.int(1, 64), bytes.length - at)), at)
    return bytes
  },
  'an extreme number': (bytes, random) => {
    const number = Buffer.from(
      random.pick(['00000000', 'ffffffff', '7fffffff', '80000000', '00010000', 'ffff']),
      'hex',
    )
    const at = Math.min(placeIn(bytes, random), Math.max(0, bytes.length - number.length))
    number.copy(bytes, at)
    return bytes
  },
  'cut off': (bytes, random) => bytes.subarray(0, random.int(1, bytes.length - 1)),
  'a piece left out': (bytes, random) => {
    const at = placeIn(bytes, random)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.int(1, 256))])
  },
  'a piece twice': (bytes, random) => {
    const at = placeIn(bytes, random)
    const end = at + random.int(1, 1_024)
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
  },
  'zeros as from a hole': (bytes, random) => {
    const at = placeIn(bytes, random)
    return bytes.fill(0, at, Math.min(bytes.length, at + random.int(16, 4_096)))
  },
  'the rest of another file': (bytes, random, another) => {
    const share = random.uniform()
    return Buffer.concat([
      bytes.subarray(0, Math.ceil(share * bytes.length)),
      another.subarray(Math.floor(share * another.length)),
    ])
  },
}

/** Damages one of the files, once to three times. The same randomness gives the same bytes. */
export function damage(files: readonly Buffer[], random: SeededRandom): Damaged & { file: number } {
  const file = random.int(0, files.length - 1)
  let bytes: Buffer = Buffer.from(files[file]!)
  const ways: string[] = []
  for (let times = random.pick([1, 1, 1, 2, 3]); times > 0 && bytes.length > 1; times--) {
    const how = random.pick(Object.keys(DAMAGES))
    bytes = DAMAGES[how]!(Buffer.from(bytes), random, random.pick(files))
    ways.push(how)
  }
  return { file, how: ways.join(', then '), bytes }
}

/** Half of the places lie in the first kilobyte, where headers are: what is damaged there leads a decoder furthest astray. */
function placeIn(bytes: Buffer, random: SeededRandom): number {
  const within = random.chance(0.5) ? Math.min(1_024, bytes.length) : bytes.length
  return random.int(0, within - 1)
}
