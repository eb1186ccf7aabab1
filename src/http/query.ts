import { isUtf8 } from 'node:buffer'
import { badRequest } from './errors.js'
import { isStorableText } from './text.js'

/**
 * Reads the query of a raw request URL, where no setting of the host's query parser can reach it. Strict, for a
 * parameter that is dropped or overwritten in silence answers with the wrong data.
 */
export function parseQuery (url: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null)
  const start = url.indexOf('?')
  if (start === -1) return values
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue
    const [name, value] = splitPair(pair)
    if (name in values) throw badRequest({ in: 'query', field: name, message: 'is given more than once' })
    values[name] = value
  }
  return values
}

function splitPair (pair: string): [string, string] {
  const end = pair.indexOf('=')
  return end === -1 ? [decode(pair), ''] : [decode(pair.slice(0, end)), decode(pair.slice(end + 1))]
}

function decode (text: string): string {
  const decoded = decodeBytes(text.replaceAll('+', ' '))
  if (decoded === null || !isStorableText(decoded)) {
    throw badRequest({ in: 'query', field: '', message: 'holds text that is not encoded as UTF-8, or a NUL' })
  }
  return decoded
}

/** curl and others send UTF-8 as it is, and Node hands each of its bytes on as one character. */
function decodeBytes (text: string): string | null {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length !== text.length || !isUtf8(bytes)) return null
  try {
    return decodeURIComponent(bytes.toString())
  } catch {
    return null
  }
}
