import { badRequest } from '../wire-errors.js'
import { isStorableText } from '../../shared/text.js'

/**
 * Parses the query of the raw URL, independently of the host's query parser. Throws a 400 for repeated parameters and for
 * invalid encoding: silently ignoring them would return wrong data.
 */
export function parseQuery (url: string): Record<string, unknown> {
  const values = new Map<string, string>()
  const start = url.indexOf('?')
  if (start === -1) return {}
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue
    const [name, value] = splitPair(pair)
    if (values.has(name)) throw badRequest({ in: 'query', field: name, message: 'is given more than once' })
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

function splitPair (pair: string): [string, string] {
  const end = pair.indexOf('=')
  return end === -1 ? [decode(pair), ''] : [decode(pair.slice(0, end)), decode(pair.slice(end + 1))]
}

/** Visible ASCII. A lenient HTTP parser passes other characters, whose encoding is unknown. */
const urlText = /^[\x21-\x7e]*$/

function decode (text: string): string {
  const decoded = urlText.test(text) ? tryDecode(text.replaceAll('+', ' ')) : null
  if (decoded === null || !isStorableText(decoded)) {
    throw badRequest({ in: 'query', field: '', message: 'holds text that is not percent-encoded UTF-8, or a NUL' })
  }
  return decoded
}

function tryDecode (text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
