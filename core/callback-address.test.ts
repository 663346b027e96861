import { describe, expect, it } from 'vitest'
import { ALLOW_NOTHING, mayConnect, parseCallbackAllow } from './callback-address.ts'

describe('the addresses that callbacks are sent to', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '1.1.1.1',
    '2606:4700::1111',
    '2a00:1450:4001:81b::200e',
    '::ffff:8.8.8.8',
  ])('include %s, which is public', (address) => {
    expect(mayConnect(address, ALLOW_NOTHING)).toBe(true)
  })

  it.each([
    ['this host', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['loopback, anywhere in it', '127.255.255.254'],
    ['private, 10/8', '10.1.2.3'],
    ['private, 172.16/12', '172.31.255.255'],
    ['private, 192.168/16', '192.168.0.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['link-local, where clouds keep credentials', '169.254.169.254'],
    ['IETF protocol assignments', '192.0.0.8'],
    ['documentation', '192.0.2.1'],
    ['documentation, the third', '203.0.113.9'],
    ['6to4 relays', '192.88.99.1'],
    ['benchmarks', '198.19.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6: unspecified', '::'],
    ['IPv6: loopback', '::1'],
    ['IPv6: link-local', 'fe80::1'],
    ['IPv6: link-local with a zone', 'fe80::1%eth0'],
    ['IPv6: site-local', 'fec0::1'],
    ['IPv6: unique local', 'fd00:ec2::254'],
    ['IPv6: multicast', 'ff02::1'],
    ['IPv6: documentation', '2001:db8::1'],
    ['IPv6: discard', '100::1'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped loopback in hexadecimal', '::ffff:7f00:1'],
    ['IPv4-mapped private', '::ffff:10.0.0.1'],
    ['IPv4-mapped, written out', '0:0:0:0:0:ffff:a9fe:a9fe'],
    ['IPv4-compatible', '::7f00:1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of what is public', '64:ff9b::808:808'],
    ['NAT64 of one’s own', '64:ff9b:1::a00:1'],
    ['6to4 of a private address', '2002:a00:1::'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['what is not given out', '4000::1'],
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['hexadecimal', '0x7f.0.0.1'],
    ['short', '127.1'],
    ['a name', 'localhost'],
    ['nothing', ''],
  ])('do not include %s', (_, address) => {
    expect(mayConnect(address, ALLOW_NOTHING)).toBe(false)
  })

  it('include what the list allows, by range and by address, and nothing beside it', () => {
    const allow = parseCallbackAllow('10.0.0.0/8, 192.168.1.5, fd00::/8,::1')!
    for (const address of ['10.200.0.1', '::ffff:10.0.0.1', '192.168.1.5', 'fd12::1', '::1']) {
      expect(mayConnect(address, allow), address).toBe(true)
    }
    for (const address of ['11.0.0.0', '192.168.1.6', '127.0.0.1', 'fe80::1', '::2']) {
      expect(mayConnect(address, allow), address).toBe(address === '11.0.0.0')
    }
  })
})

describe('the list of what is allowed', () => {
  it('takes names, addresses and ranges, and may be empty', () => {
    expect([...parseCallbackAllow('Hooks.Internal, localhost,, 10.0.0.0/8')!.hosts]).toEqual([
      'hooks.internal',
      'localhost',
    ])
    expect(parseCallbackAllow('')).toEqual(ALLOW_NOTHING)
  })

  it.each([
    '10.0.0.0/33',
    '300.1.1.1',
    '127.1',
    'http://host',
    'a_b',
    'host:80',
    '*.example',
    '10.0.0',
    '1/2',
  ])('does not take %s', (entry) => {
    expect(parseCallbackAllow(entry)).toBeNull()
  })
})
