import type { Kysely } from 'kysely'
import { createKey, type ListedKey, listKeys, revokeKey } from '../../db/api-keys.ts'
import type { Database } from '../../db/schema.ts'
import { systemRandom } from '../../infra/system-random.ts'
import type { Answer } from './command.ts'
import { readNumber, readOptions, readTenant } from './options.ts'
import { table } from './table.ts'
import { UsageError } from './usage-error.ts'

export const KEYS_USAGE = `keys create --tenant <tenant> [--name <name>] [--rate <n>] [--burst <n>] [--in-flight <n>]
    Makes an API key and prints it: once, for it is stored nowhere. The tenant is made if it is missing.
    The limits are the whole tenant's: requests a second and at once (of each API process), jobs not yet done.
keys list [--tenant <tenant>]
    Lists keys, revoked ones too. None of them can be had again.
keys revoke <key id>
    Revokes a key. It is refused from this moment on, by every process.`

/** `keys create|list|revoke`. */
export async function keysCommand(db: Kysely<Database>, [verb, ...args]: string[]): Promise<Answer> {
  switch (verb) {
    case 'create':
      return create(db, args)
    case 'list':
      return list(db, args)
    case 'revoke':
      return revoke(db, args)
    default:
      throw new UsageError(verb === undefined ? 'keys what?' : `there is no keys ${verb}`)
  }
}

async function create(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { values } = readOptions(args, {
    tenant: { type: 'string' },
    name: { type: 'string', default: '' },
    rate: { type: 'string' },
    burst: { type: 'string' },
    'in-flight': { type: 'string' },
  })
  const { name } = values
  const tenant = readTenant(values.tenant)
  if (!/^\P{C}{0,100}$/u.test(name)) {
    throw new UsageError('--name has to be at most 100 characters, none of them a control character')
  }
  const ratePerSecond = readNumber('--rate', values.rate, { least: 0.001, most: 1_000_000, whole: false })
  const burst = readNumber('--burst', values.burst, { least: 1, most: 1_000_000, whole: true })
  const maxInFlight = readNumber('--in-flight', values['in-flight'], {
    least: 1,
    most: 1_000_000,
    whole: true,
  })
  const made = await createKey(
    db,
    {
      tenant,
      name,
      limits: {
        ...(ratePerSecond !== undefined && { ratePerSecond }),
        ...(burst !== undefined && { burst }),
        ...(maxInFlight !== undefined && { maxInFlight }),
      },
    },
    systemRandom,
  )
  const { limits } = made
  return {
    output: made.key,
    note:
      `${made.keyId} of tenant ${tenant}. This is the only time that the key is shown. The tenant's limits: ` +
      `${limits.ratePerSecond} requests a second, ${limits.burst} at once, ${limits.maxInFlight} jobs in flight.`,
  }
}

async function list(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { values } = readOptions(args, { tenant: { type: 'string' } })
  const keys = await listKeys(db, values.tenant ?? null)
  if (keys.length === 0) return { output: '', note: 'There are no keys.' }
  return { output: table(['key id', 'tenant', 'name', 'key', 'created', 'revoked'], keys.map(cells)) }
}

function cells({ keyId, tenant, name, shownPart, createdAt, revokedAt }: ListedKey): string[] {
  return [keyId, tenant, name, `${shownPart}…`, minute(createdAt), revokedAt ? minute(revokedAt) : '']
}

async function revoke(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { words } = readOptions(args, {}, ['<key id>'])
  const keyId = words[0]!
  if (await revokeKey(db, keyId)) return { output: '', note: `${keyId} is revoked.` }
  // A key that was pasted here by mistake stays out of the terminal's history of answers, and of logs.
  const named = /^key_[0-9a-z]{1,40}$/.test(keyId) ? keyId : 'this id'
  throw new Error(`there is no key of ${named}. keys list shows the ids, which begin with key_.`)
}

/** In UTC, as logs have it. */
function minute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
