import { type CallbackAllow, isListed, mayConnect } from './callback-address.ts'

/** The longest URL that is taken, in characters. */
const MAX_LENGTH = 2_048

/**
 * Whether callbacks can be sent to this URL, as far as the text tells; where its name leads is known when it is
 * connected to, and is checked then.
 *
 * @returns the URL as it is kept, or the rest of a sentence that begins with its name
 */
export function checkCallbackUrl(
  text: string,
  allow: CallbackAllow,
): { ok: true; url: string } | { ok: false; message: string } {
  const no = (message: string) => ({ ok: false as const, message })
  if (text.length > MAX_LENGTH) return no(`has ${text.length} characters; at most ${MAX_LENGTH} are taken`)
  // The parser would drop them in silence.
  if (/[\s\p{Cc}]/u.test(text)) return no('has blanks or control characters')
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    return no('has to be a URL that begins with https://')
  if (url.username !== '' || url.password !== '') return no('has a user name or a password in it')
  if (text.includes('#')) return no('has a fragment (#…), which no receiver would see')
  if (url.href.length > MAX_LENGTH) return no(`is longer than ${MAX_LENGTH} characters when it is encoded`)

  const { hostname } = url
  const address = hostAddress(hostname)
  const listed = address ? isListed(address, allow) : allow.hosts.has(hostname)
  if (url.protocol === 'http:' && !listed) return no('has to begin with https://')
  if (address && !mayConnect(address, allow)) return no('leads to an address that is not public')
  if (/^(.+\.)?localhost\.?$/.test(hostname) && !listed) return no('leads to this service itself')
  if (isLowPort(url.port) && !listed)
    return no(`has the port ${url.port}; below 1024 only 80 and 443 are taken`)
  return { ok: true, url: url.href }
}

/**
 * The address that a URL's host is, when it is no name: the URL's parser has made four decimal numbers of every way to
 * write an IPv4 address.
 */
export function hostAddress(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return /^\d+(\.\d+){3}$/.test(hostname) ? hostname : null
}

/** Below 1024 listens what speaks other protocols, mail before all, and may take a request's lines for its commands. */
function isLowPort(port: string): boolean {
  return port !== '' && port !== '80' && port !== '443' && Number(port) < 1_024
}
