import { describe, expect, it } from 'vitest'
import { ALLOW_NOTHING, parseCallbackAllow } from './callback-address.ts'
import { checkCallbackUrl } from './callback-url.ts'

const check = (text: string, allow = '') => checkCallbackUrl(text, parseCallbackAllow(allow) ?? ALLOW_NOTHING)

describe('a callback_url', () => {
  it.each([
    ['https://hooks.example/img42', 'https://hooks.example/img42'],
    ['https://hooks.example:8443/a?b=c', 'https://hooks.example:8443/a?b=c'],
    ['HTTPS://Hooks.Example:443', 'https://hooks.example/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://93.184.216.34/', 'https://93.184.216.34/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
  ])('may be %s, and is kept as %s', (text, url) => {
    expect(check(text)).toEqual({ ok: true, url })
  })

  it.each([
    ['plain HTTP', 'http://hooks.example/', 'has to begin with https://'],
    ['another scheme', 'ftp://hooks.example/', 'has to be a URL that begins with https://'],
    ['a script', 'javascript:alert(1)', 'has to be a URL that begins with https://'],
    ['no URL', 'hooks.example', 'has to be a URL that begins with https://'],
    ['nothing', '', 'has to be a URL that begins with https://'],
    ['a password', 'https://user:secret@hooks.example/', 'has a user name or a password in it'],
    ['a user', 'https://user@hooks.example/', 'has a user name or a password in it'],
    ['a fragment', 'https://hooks.example/#a', 'has a fragment (#…), which no receiver would see'],
    ['an empty fragment', 'https://hooks.example/#', 'has a fragment (#…), which no receiver would see'],
    ['a line break', 'https://hooks.example/\r\nHost: other', 'has blanks or control characters'],
    ['a tab that parsers drop', 'https://hooks\t.example/', 'has blanks or control characters'],
    [
      'the port of mail',
      'https://hooks.example:25/',
      'has the port 25; below 1024 only 80 and 443 are taken',
    ],
    ['this machine', 'https://localhost/', 'leads to this service itself'],
    ['this machine with a dot', 'https://localhost./', 'leads to this service itself'],
    ['this machine by another name', 'https://a.localhost/', 'leads to this service itself'],
  ])('is not %s', (_, text, message) => {
    expect(check(text)).toEqual({ ok: false, message })
  })

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://0x7f.0x0.0x0.0x1/',
    'https://0x7f000001/',
    'https://１２７.0.0.1/',
    'https://0/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00::1]/',
  ])('is not %s, which is an inner address', (text) => {
    expect(check(text)).toEqual({ ok: false, message: 'leads to an address that is not public' })
  })

  it('has at most 2,048 characters, as sent and as kept', () => {
    const long = `https://hooks.example/${'a'.repeat(2_026)}`
    expect(check(long)).toEqual({ ok: true, url: long })
    expect(check(`${long}a`)).toEqual({ ok: false, message: 'has 2049 characters; at most 2048 are taken' })
    expect(check(`https://hooks.example/${'é'.repeat(1_000)}`)).toMatchObject({ ok: false })
  })

  it('may be plain HTTP, inner and on any port where the list has its name or its address', () => {
    const allow = 'hooks.internal, localhost, 10.0.0.0/8'
    for (const text of ['http://hooks.internal:90/', 'http://localhost:9000/', 'http://10.1.2.3/']) {
      expect(check(text, allow)).toEqual({ ok: true, url: text })
    }
    for (const text of ['http://other.internal/', 'http://127.0.0.1/', 'http://8.8.8.8/']) {
      expect(check(text, allow)).toMatchObject({ ok: false })
    }
  })
})
