import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { createTestDatabase } from '../test/database.ts'
import { countConnections, openDatabase } from './connect.ts'

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

test('a server that goes away with the word that it is ready fails the statement, and nothing else', async () => {
  const words = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message(
      'E',
      Buffer.from('SFATAL\0C57P02\0Mterminating connection due to unexpected postmaster exit\0\0'),
    ),
  ])
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.once('data', () => socket.end(words))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `postgres://user:password@127.0.0.1:${port}/db`
  const db = openDatabase(url, { max: 1, callMs: 2_000, application: 'img42-test' })
  for (let i = 0; i < 3; i++) await expect(sql`select 1`.execute(db)).rejects.toThrow()
  // Each time on a connection of its own: none that has failed is used again.
  expect(connections).toBe(3)
  await db.destroy()
  server.close()
})

test('connections are counted: in use, idle, and waited for', async () => {
  const database = await createTestDatabase()
  const db = openDatabase(database.url, { max: 1, callMs: 10_000, application: 'img42-test' })
  expect(countConnections(db)).toEqual({ inUse: 0, idle: 0, waiting: 0, max: 1 })
  let waiting: Promise<unknown> = Promise.resolve()
  await db.transaction().execute(async (transaction) => {
    await sql`select 1`.execute(transaction)
    waiting = sql`select 1`.execute(db)
    await vi.waitFor(() => expect(countConnections(db)).toEqual({ inUse: 1, idle: 0, waiting: 1, max: 1 }))
  })
  await waiting
  expect(countConnections(db)).toEqual({ inUse: 0, idle: 1, waiting: 0, max: 1 })
  await db.destroy()
  await database.drop()
})
