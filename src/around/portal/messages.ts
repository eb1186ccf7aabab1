import {
  type Reader, assertObject, assertOption, optional, properties, readLocale, readOptions, text
} from '../../core/shared/read-options.js'
import { english } from './locales/en.js'

/** A text that depends on a number, by the categories of `Intl.PluralRules`. `{count}` is the number. */
export type Plural = { other: string } & { [Category in 'zero' | 'one' | 'two' | 'few' | 'many']?: string }

/** The tree of texts that a file lists by path, such as `shell.title`. */
type TextsOf<List> = List extends string ? string : List extends { other: string } ? Plural : {
  [Name in keyof List as Name extends `${infer First}.${string}` ? First : Name]: Name extends keyof List
    ? TextsOf<Name extends `${infer First}.${string}` ? BelowOf<List, First> : List[Name]>
    : never
}

/** The texts whose paths begin with a name, by the rest of the path. */
type BelowOf<List, First extends string> = {
  [Path in keyof List as Path extends `${First}.${infer Rest}` ? Rest : never]: List[Path]
}

/**
 * All texts of the portal in one language, as plain data. `{name}` is a placeholder. TypeScript reports missing texts.
 */
export type PortalMessages = TextsOf<typeof english>

/** Returns the tree of texts that a file lists by path. */
export function readTexts (list: object): PortalMessages {
  const tree: Record<string, unknown> = {}
  for (const [path, text] of Object.entries(list)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    const parent = names.reduce((node, name) => (node[name] ??= {}) as Record<string, unknown>, tree)
    parent[last] = text
  }
  return tree as PortalMessages
}

export const en = readTexts(english)

/** The categories of `Intl.PluralRules`. Only `other` is required. */
const plural = {
  zero: optional(text),
  one: optional(text),
  two: optional(text),
  few: optional(text),
  many: optional(text),
  other: text
}

/** Returns the texts by canonical locale. Throws `invalid_option` unless they have exactly the English names. */
export function readMessages (value: unknown, path: string): Record<string, PortalMessages> {
  assertObject(value, path, 'an object of messages by locale')
  const read = readerOf(en) as Reader<PortalMessages>
  const entries = Object.entries(value).map(
    ([name, messages]) => [readLocale(name, `${path}.${name}`), read(messages, `${path}.${name}`)] as const
  )
  const messages = Object.fromEntries(entries)
  assertOption(
    Object.keys(messages).length === entries.length, path, 'each locale once',
    entries.map(([locale]) => locale).join(', ')
  )
  return messages
}

/** Returns a reader for texts with the same names as `model`. */
function readerOf (model: object | string): Reader<unknown, never> {
  if (typeof model === 'string') return text
  if ('other' in model) return properties(plural)
  const readers = Object.fromEntries(Object.entries(model).map(([name, member]) => [name, readerOf(member)]))
  return (value, path) => readOptions(value, readers, path)
}
