/*
 * Names, headlines and other texts come from strangers. Invisible characters, and those that models may take for a
 * command, become visible.
 */

/**
 * Control characters, line separators, characters that change the direction of text, and characters without a shape:
 * those of the block of tags can hide a whole text. Also halves of surrogate pairs, because many JSON parsers reject
 * them.
 */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

/** Maximum length of a text in the result of a tool, in UTF-16 code units. Longer than any token. */
const maxTextLength = 4000

/** Returns a value with its texts and names of fields escaped and cut. */
export function guardValue (value: unknown): unknown {
  if (typeof value === 'string') return guardText(value)
  if (Array.isArray(value)) return value.map(guardValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [guardText(name), guardValue(member)]))
}

/** Returns a text with hidden characters as `\u202e`, cut to the maximum length. */
export function guardText (text: string): string {
  return cut(text, maxTextLength, 'characters').replace(hidden, escape)
}

/** Cuts a text, and says how long it was. */
export function cut (text: string, length: number, unit: string): string {
  if (text.length <= length) return text
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}… (cut, ${text.length} ${unit})`
}

function escape (character: string): string {
  const code = Number(character.codePointAt(0)).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
