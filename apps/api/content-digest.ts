import { ProblemError } from './problem.ts'

/**
 * The SHA-256, in hexadecimal, that a request's Content-Digest (RFC 9530) announces for its body; null where it names
 * none. Other algorithms are passed over.
 *
 * @param values of the header, one for each time that it was sent
 * @throws {ProblemError} 400 when it is no such dictionary, or has a sha-256 that is not 32 bytes
 */
export function readContentDigest(values: readonly string[] | undefined): string | null {
  if (values === undefined) return null
  let sha256: string | null = null
  for (const member of values.join(',').split(',')) {
    const found = /^\s*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):\s*$/.exec(member)
    if (!found) throw malformed('it is no list of members such as sha-256=:…:')
    // Of a member that stands twice the last one counts, as in every dictionary of RFC 8941.
    if (found[1] === 'sha-256') sha256 = hexadecimal(found[2]!)
  }
  return sha256
}

function hexadecimal(base64: string): string {
  const digest = Buffer.from(base64, 'base64')
  if (digest.length !== 32) throw malformed(`its sha-256 has ${digest.length} bytes, and not 32`)
  return digest.toString('hex')
}

function malformed(why: string): ProblemError {
  return new ProblemError({
    status: 400,
    code: 'content_digest_malformed',
    detail: `the Content-Digest is wrong: ${why}`,
  })
}
