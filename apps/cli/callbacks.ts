import type { Kysely } from 'kysely'
import { ALLOW_NOTHING, parseCallbackAllow } from '../../core/callback-address.ts'
import { mintCallbackSecret } from '../../core/callback-signature.ts'
import { checkCallbackUrl } from '../../core/callback-url.ts'
import {
  createSecret,
  enableReceiver,
  listDisabledReceivers,
  listSecrets,
  rotateSecret,
  setTenantUrl,
} from '../../db/callback-receivers.ts'
import type { Database } from '../../db/schema.ts'
import { systemRandom } from '../../infra/system-random.ts'
import type { Answer } from './command.ts'
import { readNumber, readOptions, readTenant, required } from './options.ts'
import { table } from './table.ts'
import { UsageError } from './usage-error.ts'

export const CALLBACKS_USAGE = `callbacks secret create --tenant <tenant>
    Makes the secret that the tenant's callbacks are signed with, and prints it. Without one nothing is sent.
callbacks secret rotate --tenant <tenant> [--overlap-hours <n>]
    Makes a new secret and prints it. The old one signs as well for n hours, 24 unless said otherwise.
callbacks secret list --tenant <tenant>
    Lists the secrets that sign now, by their first characters.
callbacks url set --tenant <tenant> --url <url>
    Where the callbacks of jobs go that name no callback_url of their own.
callbacks url clear --tenant <tenant>
    Jobs that name no callback_url have no callback from now on.
callbacks disabled list --tenant <tenant>
    Lists the URLs that have answered 410 Gone, and how many callbacks were withheld from each.
callbacks disabled enable --tenant <tenant> --url <url>
    Sends to such a URL again, what was withheld included.`

type Verb = (db: Kysely<Database>, args: string[]) => Promise<Answer>

const VERBS: Record<string, Verb> = {
  'secret create': createTenantSecret,
  'secret rotate': rotateTenantSecret,
  'secret list': listTenantSecrets,
  'url set': setUrl,
  'url clear': clearUrl,
  'disabled list': listDisabled,
  'disabled enable': enable,
}

/** `callbacks secret|url|disabled …`. */
export async function callbacksCommand(
  db: Kysely<Database>,
  [noun, verb, ...args]: string[],
): Promise<Answer> {
  const name = `${noun ?? ''} ${verb ?? ''}`.trim()
  const run = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (!run) throw new UsageError(name === '' ? 'callbacks what?' : `there is no callbacks ${name}`)
  return run(db, args)
}

async function createTenantSecret(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant } = readNames(args)
  const secret = mintCallbackSecret(systemRandom)
  if (!(await createSecret(db, tenant, secret))) {
    throw new Error(`tenant ${tenant} has a secret; callbacks secret rotate replaces it.`)
  }
  return {
    output: secret,
    note: `Signs the callbacks of tenant ${tenant} from now on. Keep it: it is not shown again.`,
  }
}

async function rotateTenantSecret(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant, overlap } = readNames(args, { 'overlap-hours': { type: 'string' } })
  const hours = readNumber('--overlap-hours', overlap, { least: 0, most: 8_760, whole: true }) ?? 24
  const secret = mintCallbackSecret(systemRandom)
  await rotateSecret(db, { tenant, secret, overlapMs: hours * 3_600_000 })
  return {
    output: secret,
    note: `Signs the callbacks of tenant ${tenant} from now on; what signed before does so for ${hours} hours more.`,
  }
}

async function listTenantSecrets(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant } = readNames(args)
  const secrets = await listSecrets(db, tenant)
  if (secrets.length === 0) return { output: '', note: `Tenant ${tenant} has no secret: nothing is sent.` }
  const rows = secrets.map(({ secret, createdAt, expiresAt }) => [
    `${secret.slice(0, 12)}…`,
    createdAt.toISOString(),
    expiresAt?.toISOString() ?? '',
  ])
  return { output: table(['secret', 'created', 'signs until'], rows) }
}

async function setUrl(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant, url } = readNames(args, { url: { type: 'string' } })
  // What the API is started with: what it would not take of a client, it is not given by the operator either.
  const allow = parseCallbackAllow(process.env.CALLBACK_ALLOW ?? '') ?? ALLOW_NOTHING
  const checked = checkCallbackUrl(required('--url', url), allow)
  if (!checked.ok)
    throw new Error(`--url ${checked.message} (CALLBACK_ALLOW lists what may be inner or plain HTTP).`)
  await setTenantUrl(db, tenant, checked.url)
  return {
    output: '',
    note: `Callbacks of tenant ${tenant} go to ${checked.url} unless their job says otherwise.`,
  }
}

async function clearUrl(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant } = readNames(args)
  await setTenantUrl(db, tenant, null)
  return { output: '', note: `Tenant ${tenant} has callbacks for those jobs alone that name a callback_url.` }
}

async function listDisabled(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant } = readNames(args)
  const receivers = await listDisabledReceivers(db, tenant)
  if (receivers.length === 0) return { output: '', note: `No URL of tenant ${tenant} is disabled.` }
  const rows = receivers.map(({ url, disabledAt, withheld }) => [
    url,
    disabledAt.toISOString(),
    String(withheld),
  ])
  return { output: table(['url', 'disabled', 'withheld'], rows) }
}

async function enable(db: Kysely<Database>, args: string[]): Promise<Answer> {
  const { tenant, url } = readNames(args, { url: { type: 'string' } })
  const due = await enableReceiver(db, tenant, required('--url', url))
  if (due === null) throw new Error('this URL is not disabled; callbacks disabled list shows those that are.')
  return { output: '', note: `It is sent to again; ${due} callbacks that were withheld are due now.` }
}

function readNames(
  args: string[],
  more: Partial<Record<'url' | 'overlap-hours', { type: 'string' }>> = {},
): { tenant: string; url: string | undefined; overlap: string | undefined } {
  const { values } = readOptions(args, { tenant: { type: 'string' }, ...more })
  const given = values as Partial<Record<'tenant' | 'url' | 'overlap-hours', string>>
  return { tenant: readTenant(given.tenant), url: given.url, overlap: given['overlap-hours'] }
}
