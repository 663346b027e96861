/** Where chance comes from, so that a simulation can replay it. */
export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number
  /** `length` bytes that nobody can guess, as ids and lease tokens need. */
  bytes(length: number): Uint8Array
}
