import pg from 'pg'

/** What processes tell each other of after a commit. Only ever a reason to look: the tables are the truth. */
export type Channel =
  /** The outbox has rows. */
  | 'img42_outbox'
  /** Jobs changed their status; carries their ids. */
  | 'img42_transitions'

/** How long notifications are gathered: one is as good as many. */
const DEBOUNCE_MS = 20
const RECONNECT_MS = 1_000
/** Postgres takes less than 8,000 bytes with a notification. */
const MAX_PAYLOAD_BYTES = 7_500

export interface Notifier {
  /** @param id of what the notification is about, where the channel says so */
  notify(id?: string): void
  close(): Promise<void>
}

/**
 * Sends notifications on a connection of its own and never inside a transaction: there a NOTIFY makes commits wait for
 * each other. May be lost, which costs whoever listens the pause until its next look.
 */
export function createNotifier(databaseUrl: string, channel: Channel): Notifier {
  const connection = keepConnected(databaseUrl, 'img42-notify', async () => {})
  let ids = new Set<string>()
  let timer: NodeJS.Timeout | null = null
  let sending = Promise.resolve()

  async function send(): Promise<void> {
    const payload = [...ids].join(' ')
    ids = new Set()
    // Too many to be named: whoever listens has to look at everything.
    const named = payload.length <= MAX_PAYLOAD_BYTES ? payload : ''
    await connection
      .client()
      ?.query('select pg_notify($1, $2)', [channel, named])
      .catch(() => {})
  }

  return {
    notify(id) {
      if (id) ids.add(id)
      timer ??= setTimeout(() => {
        timer = null
        sending = sending.then(send)
      }, DEBOUNCE_MS)
    },
    async close() {
      if (timer) clearTimeout(timer)
      await sending
      await connection.close()
    },
  }
}

/**
 * Calls `wake` whenever there may be something new, a regained connection included.
 *
 * @param wake told of the ids that the notification names; null for any
 */
export function listen(
  databaseUrl: string,
  channel: Channel,
  wake: (ids: string[] | null) => void,
): { close(): Promise<void> } {
  return keepConnected(databaseUrl, 'img42-listen', async (client) => {
    client.on('notification', ({ payload }) => wake(payload ? payload.split(' ') : null))
    await client.query(`listen ${channel}`)
    wake(null)
  })
}

function keepConnected(
  databaseUrl: string,
  application: string,
  onConnect: (client: pg.Client) => Promise<void>,
) {
  let current: pg.Client | null = null
  let closed = false
  let retry: NodeJS.Timeout | null = null

  function connect(): void {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: application,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    })
    let over = false
    const again = () => {
      if (over) return
      over = true
      if (current === client) current = null
      client.end().catch(() => {})
      if (!closed) retry = setTimeout(connect, RECONNECT_MS)
    }
    client.on('error', again)
    client.on('end', again)
    client
      .connect()
      .then(() => onConnect(client))
      .then(() => {
        current = client
        if (closed) again()
      })
      .catch(again)
  }
  connect()

  return {
    client: () => current,
    async close() {
      closed = true
      if (retry) clearTimeout(retry)
      await current?.end().catch(() => {})
    },
  }
}
