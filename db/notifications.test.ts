import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../test/database.ts'
import { createNotifier, listen, type Notifier } from './notifications.ts'

describe('a notification', () => {
  let database: TestDatabase
  let notifier: Notifier
  let listener: { close(): Promise<void> }
  let heard: (string[] | null)[]
  beforeEach(async () => {
    database = await createTestDatabase()
    heard = []
    listener = listen(database.url, 'img42_transitions', (ids) => heard.push(ids))
    notifier = createNotifier(database.url, 'img42_transitions')
    // Whoever begins to listen may have missed anything.
    await vi.waitFor(() => expect(heard).toEqual([null]), { timeout: 20_000 })
  })
  afterEach(async () => {
    await Promise.all([notifier.close(), listener.close()])
    await database.drop()
  })

  /** Sends until something arrives: what is sent before the connection stands is lost, as it may be. */
  async function send(...ids: (string | undefined)[]): Promise<string[] | null> {
    const before = heard.length
    await vi.waitFor(
      () => {
        for (const id of ids) notifier.notify(id)
        expect(heard.length).toBeGreaterThan(before)
      },
      { timeout: 20_000, interval: 100 },
    )
    return heard.at(-1)!
  }

  it('names what it is about, each once', async () => {
    expect((await send('img_a', 'img_b', 'img_a'))?.toSorted()).toEqual(['img_a', 'img_b'])
  })

  it('that would have to name too many names none', async () => {
    expect(
      await send(...Array.from({ length: 400 }, (_, i) => `img_${String(i).padStart(26, '0')}`)),
    ).toBeNull()
  })

  it('without a name is about anything', async () => {
    expect(await send(undefined)).toBeNull()
  })
})
