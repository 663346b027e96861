import pg from 'pg'

const CHANNEL = 'img42_outbox'
/** How long notifications are gathered: one is as good as many. */
const DEBOUNCE_MS = 20
const RECONNECT_MS = 1_000

/**
 * Tells relays, after a commit, that the outbox has rows. On a connection of its own and never inside a transaction:
 * there a NOTIFY makes commits wait for each other. May be lost, which costs the relay's poll interval.
 */
export function createOutboxNotifier(databaseUrl: string): { notify(): void; close(): Promise<void> } {
  const connection = keepConnected(databaseUrl, 'img42-notify', async () => {})
  let timer: NodeJS.Timeout | null = null
  let sending = Promise.resolve()

  async function send(): Promise<void> {
    await connection
      .client()
      ?.query(`notify ${CHANNEL}`)
      .catch(() => {})
  }

  return {
    notify() {
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

/** Calls `wake` whenever the outbox may have new rows, a regained connection included. */
export function listenForOutbox(databaseUrl: string, wake: () => void): { close(): Promise<void> } {
  return keepConnected(databaseUrl, 'img42-listen', async (client) => {
    client.on('notification', wake)
    await client.query(`listen ${CHANNEL}`)
    wake()
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
