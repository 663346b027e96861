/** A part of a file: a segment, chunk, box or block by its type, and what it holds. */
export interface Part {
  type: string
  data: Buffer
}

/** A derivative that is not what it is to be: a defect of ours, whatever the original was. */
export class BadDerivative extends Error {
  constructor(what: string) {
    super(`a derivative ${what}`)
    this.name = 'BadDerivative'
  }
}

/** The bytes from `from` to `to`, all of which have to be there. */
export function slice(bytes: Buffer, from: number, to: number): Buffer {
  if (from > to || to > bytes.length)
    throw new BadDerivative(`has a part that runs past its end, ${from}–${to}`)
  return bytes.subarray(from, to)
}
