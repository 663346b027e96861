import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { authMode, ConfigError, readConfig } from './config.ts'
import { describeVariables } from './environment.ts'
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

  test('tells metrics a thousand above PORT, or where it is told to', () => {
    expect(readConfig({ DATABASE_URL }, 8082).metricsPort).toBe(9082)
    expect(readConfig({ DATABASE_URL, PORT: '0' }, 8080).metricsPort).toBe(0)
    expect(readConfig({ DATABASE_URL, PORT: '65000', METRICS_PORT: '9' }, 8080).metricsPort).toBe(9)
    expect(messageOf(() => readConfig({ DATABASE_URL, PORT: '65000' }, 8080))).toBe(
      'METRICS_PORT is missing: 1000 above PORT, 65000, there is no port.',
    )
  })

  test.each([' ', ' 5', '1e1', '0x5', '+5', '-0', '5.0', '1_000', '٥', '9'.repeat(16)])(
    'takes %j for no number',
    (value) => {
      expect(messageOf(() => readConfig({ DATABASE_URL, MAX_ATTEMPTS: value }, 8080))).toBe(
        'MAX_ATTEMPTS has to be a whole number from 1 to 100.',
      )
      expect(messageOf(() => readConfig({ DATABASE_URL, PORT: value }, 8080))).toContain('PORT has to be')
    },
  )

  test('names HOST where it can be no address', () => {
    for (const HOST of ['http://localhost', 'a b', '127.0.0.1:80', '[::1]', '-']) {
      expect(messageOf(() => readConfig({ DATABASE_URL, HOST }, 8080))).toContain('HOST has to be')
    }
    for (const HOST of ['::1', '0.0.0.0', 'localhost', 'api-1.internal']) {
      expect(readConfig({ DATABASE_URL, HOST }, 8080).host).toBe(HOST)
    }
  })

  test('asks for keys, or not, as it is told', () => {
    for (const HOST of ['127.0.0.1', '0.0.0.0']) {
      for (const AUTH of ['keys', 'none']) {
        expect(authMode(readConfig({ DATABASE_URL, HOST, AUTH }, 8080))).toBe(AUTH)
      }
    }
    expect(messageOf(() => readConfig({ DATABASE_URL, AUTH: 'off' }, 8080))).toContain(
      'AUTH has to be keys or none',
    )
  })

  test('asks for no keys by itself where only this machine can reach it, and does not start elsewhere', () => {
    const mode = (HOST: string) => authMode(readConfig({ DATABASE_URL, HOST }, 8080))
    for (const host of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', 'localhost']) {
      expect(mode(host)).toBe('none')
    }
    for (const host of [
      '0.0.0.0',
      '::',
      '192.168.1.5',
      '::ffff:10.0.0.1',
      'localhost.example.com',
      '128.0.0.1',
    ]) {
      expect(messageOf(() => mode(host))).toContain('AUTH is missing')
    }
  })

  test('takes origins as browsers write them', () => {
    const origins = (CORS_ORIGINS: string) => readConfig({ DATABASE_URL, CORS_ORIGINS }, 8080).corsOrigins
    expect(origins('https://a.example, http://localhost:3000')).toEqual([
      'https://a.example',
      'http://localhost:3000',
    ])
    for (const wrong of [
      '*',
      'a.example',
      'https://a.example/',
      'https://A.example',
      'https://a.example,',
      'null',
    ]) {
      expect(messageOf(() => origins(wrong))).toContain('CORS_ORIGINS has to be origins')
    }
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
