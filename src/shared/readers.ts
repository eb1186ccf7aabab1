import { parseUrl } from './addresses.js'
import { expect } from './expect.js'

/**
 * Returns a URL that paths can follow, without a slash at its end; empty if the option is absent. Throws
 * `invalid_option`.
 */
export function readPublicUrl (value: string | undefined = '', path: string): string {
  if (value === '') return ''
  const url = typeof value === 'string' && !/[\p{Cc}\s\\?#]/u.test(value) ? parseUrl(value) : null
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === ''
  expect(isBase, path, 'a URL such as https://api.example.com, without query and fragment', value)
  return url.href.replace(/\/+$/, '')
}

/** Reads keys of 32 bytes. Throws `invalid_option`. */
export function readKeys (keys: unknown, path: string): readonly Uint8Array[] {
  // The messages show no value: it may be a key.
  expect(Array.isArray(keys), path, 'an array of Buffers', typeof keys)
  for (const [index, key] of keys.entries()) {
    const isKey = key instanceof Uint8Array && key.length === 32
    expect(
      isKey,
      `${path}[${index}]`,
      'a Buffer of 32 bytes',
      key instanceof Uint8Array ? `${key.length} bytes` : typeof key
    )
  }
  return keys
}
