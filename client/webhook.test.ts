import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifyWebhook, WebhookError } from './webhook.ts'

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another one').toString('base64')}`
const BODY = '{"type":"job.succeeded","timestamp":"2026-01-01T00:00:00.000Z","data":{"job_id":"img_1","ü":1}}'

function sign(secret: string, { id = 'msg_1', at = Date.now(), body = BODY } = {}) {
  const timestamp = String(Math.floor(at / 1_000))
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

const codeOf = (checked: Promise<unknown>) =>
  checked.then(
    () => 'valid',
    (error) => (error instanceof WebhookError ? error.code : String(error)),
  )

describe('verifyWebhook', () => {
  test('gives the content of a callback that is signed', async () => {
    await expect(verifyWebhook(sign(SECRET), BODY, SECRET)).resolves.toEqual(JSON.parse(BODY))
    const bytes = new TextEncoder().encode(BODY)
    await expect(verifyWebhook(new Headers(sign(SECRET)), bytes, [SECRET])).resolves.toEqual(JSON.parse(BODY))
  })

  test('takes headers whatever their case, as Node and frameworks give them', async () => {
    const headers = Object.fromEntries(
      Object.entries(sign(SECRET)).map(([name, value]) => [name.toUpperCase(), value]),
    )
    await expect(codeOf(verifyWebhook(headers, BODY, SECRET))).resolves.toBe('valid')
  })

  test('takes any of several signatures and secrets, as during a rotation', async () => {
    const both = {
      ...sign(SECRET),
      'webhook-signature': `v1a,AAAA ${sign(OTHER)['webhook-signature']} ${sign(SECRET)['webhook-signature']}`,
    }
    await expect(codeOf(verifyWebhook(both, BODY, SECRET))).resolves.toBe('valid')
    await expect(codeOf(verifyWebhook(sign(OTHER), BODY, [SECRET, OTHER]))).resolves.toBe('valid')
  })

  test.each<[string, Record<string, string>, string]>([
    ['another body', sign(SECRET, { body: `${BODY} ` }), 'signature_wrong'],
    ['another secret', sign(OTHER), 'signature_wrong'],
    ['another id', { ...sign(SECRET), 'webhook-id': 'msg_2' }, 'signature_wrong'],
    [
      'another version',
      { ...sign(SECRET), 'webhook-signature': sign(SECRET)['webhook-signature'].replace('v1', 'v2') },
      'signature_wrong',
    ],
    ['half a signature', { ...sign(SECRET), 'webhook-signature': 'v1,AAAA' }, 'signature_wrong'],
    ['no base64', { ...sign(SECRET), 'webhook-signature': 'v1,%%%' }, 'signature_wrong'],
    ['a time six minutes ago', sign(SECRET, { at: Date.now() - 360_000 }), 'too_old'],
    ['a time to come', sign(SECRET, { at: Date.now() + 360_000 }), 'too_old'],
    ['no time', { ...sign(SECRET), 'webhook-timestamp': 'now' }, 'too_old'],
    ['no signature', { ...sign(SECRET), 'webhook-signature': '' }, 'header_missing'],
  ])('refuses %s', async (_what, headers, code) => {
    await expect(codeOf(verifyWebhook(headers, BODY, SECRET))).resolves.toBe(code)
  })

  test('says that a secret is none', async () => {
    await expect(verifyWebhook(sign(SECRET), BODY, 'whsec_')).rejects.toThrow(TypeError)
  })
})
