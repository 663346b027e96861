import ipaddr from 'ipaddr.js'

/** Receivers that callbacks may be sent to although they are not public: `CALLBACK_ALLOW`. */
export interface CallbackAllow {
  /** Host names in lower case, whatever they resolve to. */
  hosts: ReadonlySet<string>
  /** Addresses, by range. */
  ranges: readonly Range[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

export const ALLOW_NOTHING: CallbackAllow = { hosts: new Set(), ranges: [] }

/**
 * Reads an allow-list: host names, addresses and ranges in CIDR notation, separated by commas.
 *
 * @returns null when an entry is none of these
 */
export function parseCallbackAllow(text: string): CallbackAllow | null {
  const hosts = new Set<string>()
  const ranges: Range[] = []
  for (const entry of text.split(',').map((each) => each.trim())) {
    if (entry === '') continue
    if (isCidr(entry)) ranges.push(ipaddr.parseCIDR(entry) as Range)
    else if (isAddress(entry)) ranges.push(single(parse(entry)))
    else if (HOST_NAME.test(entry)) hosts.add(entry.toLowerCase())
    else return null
  }
  return { hosts, ranges }
}

/** Labels of letters, digits and hyphens; the last one with a letter, as a number there would be an address. */
const HOST_NAME = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]*[a-z][a-z0-9-]*$/i

/**
 * Whether callbacks may be sent to this address: one that the whole Internet reaches, or one of the list's. Everything
 * else is inside of something, this machine, its network or its provider's. IPv4 inside of IPv6 counts for the address
 * that it is where it is merely written so, and not at all where somebody translates it on the way.
 *
 * @param text as a resolver or a URL has it: four decimal numbers, or IPv6 without brackets
 */
export function mayConnect(text: string, allow: CallbackAllow): boolean {
  return isAddress(text) && (isListed(text, allow) || isPublic(parse(text)))
}

/** Whether the list has this address, in one of its ranges. */
export function isListed(text: string, { ranges }: CallbackAllow): boolean {
  if (!isAddress(text)) return false
  const address = parse(text)
  return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
}

/** Global unicast alone. The list of special ranges has gaps in IPv6; 2000::/3 is all that is given out so far. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST, 3)
}

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::')

/** Nothing else that a C library takes for an address: octal, hexadecimal and short forms. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
}

function isCidr(text: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)
}

/** An IPv4 address that is dressed as IPv6 (`::ffff:10.0.0.1`) is taken for what it is. */
function parse(text: string): Address {
  return ipaddr.process(text)
}

function single(address: Address): Range {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
