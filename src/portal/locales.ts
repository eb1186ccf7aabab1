import { expect } from '../shared/expect.js'
import { type Reader, expectObject, optional, properties, readOptions, text } from '../shared/read-options.js'
import type { PortalMessages } from './messages/types.js'

/** The categories of `Intl.PluralRules`; `other` is always needed. */
const plural = {
  zero: optional(text),
  one: optional(text),
  two: optional(text),
  few: optional(text),
  many: optional(text),
  other: text
}

/**
 * Reads texts by locale, and returns them by the canonical one. They must be as complete as `model`. Throws
 * `invalid_option`.
 */
export function readMessages (value: unknown, model: PortalMessages, path: string): Record<string, PortalMessages> {
  expectObject(value, path, 'an object of messages by locale')
  const read = readerOf(model) as Reader<PortalMessages>
  const entries = Object.entries(value).map(
    ([name, messages]) => [readLocale(name, `${path}.${name}`), read(messages, `${path}.${name}`)] as const
  )
  const messages = Object.fromEntries(entries)
  expect(
    Object.keys(messages).length === entries.length,
    path,
    'each locale once',
    entries.map(([locale]) => locale).join(', ')
  )
  return messages
}

/** Returns a reader of a tree of texts with the same names as `model`. */
function readerOf (model: object | string): Reader<unknown, never> {
  if (typeof model === 'string') return text
  if ('other' in model) return properties(plural)
  const readers = Object.fromEntries(Object.entries(model).map(([name, member]) => [name, readerOf(member)]))
  return (value, path) => readOptions(value, readers, path)
}

/** Reads a language tag (BCP 47). */
export function readLocale (value: string | undefined, path: string): string {
  const locale = typeof value === 'string' ? canonical(value) : undefined
  expect(locale !== undefined, path, 'a language such as de or en-GB', value)
  return locale
}

function canonical (locale: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(locale)[0]
  } catch {
    return undefined
  }
}
