import { expect, test } from 'vitest'
import { callbackHeaders, mintCallbackSecret } from './callback-signature.ts'

// The vector that the Standard Webhooks libraries are tested with.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const BODY = '{"test": 2432232314}'
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

test('the signature is that of the Standard Webhooks libraries', () => {
  expect(callbackHeaders(ID, 1_614_265_330_000, BODY, [SECRET])).toEqual({
    'webhook-id': ID,
    'webhook-timestamp': '1614265330',
    'webhook-signature': SIGNATURE,
  })
})

test('the timestamp is in whole seconds that have begun', () => {
  expect(callbackHeaders(ID, 1_614_265_330_999, BODY, [SECRET])['webhook-signature']).toBe(SIGNATURE)
})

test('each secret signs, separated by a blank', () => {
  const other = mintCallbackSecret({ uniform: () => 0, bytes: (length) => new Uint8Array(length) })
  const signatures = callbackHeaders(ID, 1_614_265_330_000, BODY, [other, SECRET])['webhook-signature'].split(
    ' ',
  )
  expect(signatures).toHaveLength(2)
  expect(signatures[0]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
  expect(signatures[0]).not.toBe(SIGNATURE)
  expect(signatures[1]).toBe(SIGNATURE)
})

test('a secret is whsec_ and the base64 of 32 bytes', () => {
  const secret = mintCallbackSecret({ uniform: () => 0, bytes: (length) => new Uint8Array(length).fill(255) })
  expect(secret).toMatch(/^whsec_/)
  expect(Buffer.from(secret.slice(6), 'base64')).toEqual(Buffer.alloc(32, 255))
})
