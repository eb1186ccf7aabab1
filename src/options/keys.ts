import { expect } from '../shared/expect.js'

/** Reads keys of 32 bytes. Throws `invalid_option`. */
export function readKeys (keys: unknown, path: string): readonly Uint8Array[] {
  // The messages show no value: it may be a key.
  expect(Array.isArray(keys), path, 'an array of Buffers', typeof keys)
  for (const [index, key] of keys.entries()) {
    const isKey = key instanceof Uint8Array && key.length === 32
    expect(isKey, `${path}[${index}]`, 'a Buffer of 32 bytes', key instanceof Uint8Array ? `${key.length} bytes` : typeof key)
  }
  return keys
}
