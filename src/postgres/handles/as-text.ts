/** A statement and its values. */
export interface Statement {
  text: string
  values: unknown[]
}

// Quoted text, names and comments, in which `$1` has no meaning, and parameters with or without a cast.
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(\d+)(::)?/gs

/**
 * Sends parameters that are cast as text, so that `$1::jsonb` becomes `$1::text::jsonb`. Some libraries give a parameter
 * the type of its JavaScript value, and some drivers convert it by its type in PostgreSQL: a text would become a JSON
 * string, or the bytes of a `bytea`.
 */
export function sendAsText (text: string, values: readonly unknown[]): Statement {
  const bare = new Set<string>()
  for (const [, position, cast] of text.matchAll(tokens)) {
    if (position !== undefined && cast === undefined) bare.add(position)
  }
  const isText = (position: string): boolean => !bare.has(position)
  return {
    text: text.replace(tokens, (token, position?: string, cast?: string) =>
      position !== undefined && cast !== undefined && isText(position) ? `$${position}::text::` : token),
    values: values.map((value, index) => isText(String(index + 1)) ? formatValue(value) : value)
  }
}

/** A value as PostgreSQL reads it from text. */
export function formatValue (value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(formatItem).join(',')}}` : String(value)
}

function formatItem (item: unknown): string {
  if (Array.isArray(item)) return String(formatValue(item))
  if (item === null || item === undefined) return 'null'
  return `"${String(item).replace(/["\\]/g, '\\$&')}"`
}
