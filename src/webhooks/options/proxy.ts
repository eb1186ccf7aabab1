import { assertOption, assertObject, readOptions } from '../../shared/read-options.js'
import { parseUrl } from '../../shared/addresses.js'
import type { HttpProxy } from '../ssrf/proxy.js'

/** The proxy that deliveries go through. */
export interface ProxyOptions {
  /**
   * An `http:` or `https:` URL without a path, such as `http://user:password@proxy.example:3128`. The user name and
   * password are sent as `Proxy-Authorization: Basic`, and appear in no error or log line.
   */
  url: string
}

/** Returns the proxy; `null` without one. Throws `invalid_option`. */
export function readProxy (value: ProxyOptions | undefined, path: string): HttpProxy | null {
  if (value === undefined) return null
  // The messages show no text: it may contain a password.
  assertOption(typeof value !== 'string', path, 'an object such as { url }', 'text')
  assertObject(value, path, 'an object such as { url }')
  return readOptions(value, { url: readUrl }, path).url
}

function readUrl (value: unknown, path: string): HttpProxy {
  const expected = 'a URL such as http://proxy.example:3128'
  assertOption(typeof value === 'string', path, expected, value)
  const url = parseUrl(value)
  assertOption(url !== null && !/[\p{Cc}\s]/u.test(value), path, expected, 'text that is not a URL')
  const { protocol, host, hostname, port, pathname, search, hash, username, password } = url
  assertOption(protocol === 'http:' || protocol === 'https:', path, expected, 'another protocol')
  assertOption(port !== '0', path, expected, 'port 0')
  assertOption(pathname + search + hash === '/', path, expected, 'a URL with a path')
  const credentials = decode(username, password)
  assertOption(
    credentials !== null,
    path,
    'percent-encoded credentials without control characters, the user name without a colon',
    'others'
  )
  const authorization = username + password === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`
  return { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, authorization }
}

/** Returns the credentials of `Basic` (RFC 7617, section 2), or `null` if it cannot express them. */
function decode (username: string, password: string): string | null {
  try {
    const user = decodeURIComponent(username)
    const credentials = `${user}:${decodeURIComponent(password)}`
    return user.includes(':') || /\p{Cc}/u.test(credentials) ? null : credentials
  } catch {
    return null
  }
}
