import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, describeVariables, readConfig } from './config.ts'
import queuePolicy from './queue-policy.json' with { type: 'json' }

const DATABASE_URL = 'postgres://img42@localhost:5432/img42'

describe('a configuration', () => {
  test('needs nothing but a database', () => {
    expect(readConfig({ DATABASE_URL }, 8080)).toMatchObject({
      databaseUrl: DATABASE_URL,
      queueUrl: null,
      s3Bucket: null,
      port: 8080,
      budget: 5,
    })
  })

  test('names every variable that is wrong or missing', () => {
    const env = { QUEUE_URL: 'img42-jobs', PORT: '80800', LOG_LEVEL: 'loud', LEASE_MS: '3s' }
    const message = messageOf(() => readConfig(env, 8080))
    expect(message).toContain('DATABASE_URL is missing.')
    expect(message).toContain('QUEUE_URL has to be a URL such as')
    expect(message).toContain('PORT has to be a whole number from 0 to 65535.')
    expect(message).toContain('LOG_LEVEL has to be one of')
    expect(message).toContain('LEASE_MS has to be a whole number')
  })

  test('takes a variable that is set to nothing for missing', () => {
    expect(readConfig({ DATABASE_URL, QUEUE_URL: '', PORT: '' }, 8082)).toMatchObject({
      queueUrl: null,
      port: 8082,
    })
  })

  test('does not start with durations that contradict each other', () => {
    expect(messageOf(() => readConfig({ DATABASE_URL, LEASE_MS: '60000' }, 8080))).toContain(
      'the lease ends no later than the visibility',
    )
    expect(messageOf(() => readConfig({ DATABASE_URL, HEARTBEAT_MS: '15000' }, 8080))).toContain(
      'two heartbeats fit into the lease',
    )
  })

  test('agrees with what the queues are made with', () => {
    const { timing } = readConfig({ DATABASE_URL }, 8080)
    expect(queuePolicy).toMatchObject({
      visibility_seconds: timing.visibilitySeconds,
      retention_seconds: timing.queueRetentionMs / 1_000,
      dead_letter_retention_seconds: timing.deadLetterRetentionMs / 1_000,
    })
  })

  test('stands in the README as it is read', () => {
    const readme = readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8')
    // However wide the columns are written.
    const rows = readme.split('\n').map((line) => line.replaceAll(/ *\| */g, '|'))
    const variables = rows.slice(rows.findIndex((row) => row.startsWith('|`DATABASE_URL`')))
    expect(variables.slice(0, variables.indexOf(''))).toEqual(
      describeVariables().map(
        ({ name, default: shown, unit, meaning }) => `|\`${name}\`|${shown}|${unit}|${meaning}|`,
      ),
    )
  })
})

function messageOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('it was accepted')
}
