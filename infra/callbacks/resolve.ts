import { lookup, Resolver } from 'node:dns/promises'
import type { CallbackAllow } from '../../core/callback-address.ts'

/** The addresses of a host name; rejects where it has none. */
export type Resolve = (name: string) => Promise<string[]>

/**
 * Resolves the names of receivers, by DNS alone: what this machine calls a host (`/etc/hosts`) is nobody else's
 * business, and its own way of asking takes one of four threads, which a slow name server would keep from everybody.
 * Names on the allow-list are the operator's, and are looked up as this machine does.
 */
export function createResolve({ hosts }: Pick<CallbackAllow, 'hosts'>): Resolve {
  const dns = new Resolver({ timeout: 3_000, tries: 2 })
  return async (name) => {
    if (hosts.has(name)) return (await lookup(name, { all: true })).map(({ address }) => address)
    const answers = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    throw new Error(`no address of ${name} is known`, { cause: answers.map(reasonOf)[0] })
  }
}

function reasonOf(answer: PromiseSettledResult<unknown>): unknown {
  return answer.status === 'rejected' ? answer.reason : undefined
}
