import { expect, test } from 'vitest'
import { asAdmin, createTestDatabase } from './database.ts'

test('every test database is migrated, empty and its own', async () => {
  const databases = await Promise.all(Array.from({ length: 4 }, createTestDatabase))
  const names = await Promise.all(
    databases.map(({ url }) =>
      asAdmin(url, async (client) => {
        const { rows } = await client.query(
          'SELECT current_database() AS name, count(*)::int AS jobs FROM jobs',
        )
        return rows[0]
      }),
    ),
  )
  expect(new Set(names.map(({ name }) => name)).size).toBe(4)
  expect(names.map(({ jobs }) => jobs)).toEqual([0, 0, 0, 0])
  await Promise.all(databases.map(({ drop }) => drop()))
  await Promise.all(databases.map(({ drop }) => drop()))
})

test('a dropped database disconnects whoever is connected', async () => {
  const database = await createTestDatabase()
  const left = asAdmin(database.url, (client) => client.query('SELECT pg_sleep(60)'))
  const ended = expect(left).rejects.toThrow()
  await database.drop()
  await ended
  await expect(asAdmin(database.url, (client) => client.query('SELECT 1'))).rejects.toThrow(/does not exist/)
})
