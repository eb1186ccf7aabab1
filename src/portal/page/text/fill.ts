import type { Plural } from '../../messages/types.js'
import { showControls } from './show-controls.js'

/** The values of placeholders. */
export type Params = Readonly<Record<string, string | number>>

const placeholder = /\{(\w+)\}/

/**
 * Puts values in place of `{name}`. Text is isolated (U+2068, U+2069), so that a name with right-to-left letters or
 * bidirectional marks cannot reorder the sentence around it.
 */
export function fill (text: string, params: Params, formatNumber: (value: number) => string): string {
  return fillParts(text, params).map((part) => {
    if (typeof part === 'string') return part
    return typeof part.value === 'number' ? formatNumber(part.value) : `\u2068${showControls(part.value)}\u2069`
  }).join('')
}

/** Splits a text at its placeholders, for values that are more than text. Unknown placeholders stay as they are. */
export function fillParts<Value> (text: string, params: Readonly<Record<string, Value>>): Array<string | { value: Value }> {
  return text.split(placeholder).map((part, index) => {
    if (index % 2 === 0) return part
    const value = params[part]
    return value === undefined ? `{${part}}` : { value }
  })
}

/** Chooses the text for a number. */
export function choose (plural: Plural, count: number, rules: Intl.PluralRules): string {
  return plural[rules.select(count)] ?? plural.other
}
