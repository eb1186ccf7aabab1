/** A statement and its values. */
export interface Statement {
  text: string
  values: unknown[]
}

// Matches quoted text, names and comments, where `$1` is not a parameter, and parameters with an optional cast.
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(\d+)(::)?/gs

/**
 * Sends parameters with a cast as text: `$1::jsonb` becomes `$1::text::jsonb`. Otherwise some libraries type a
 * parameter by its JavaScript value, and some drivers convert it by its PostgreSQL type: text would become a JSON
 * string or `bytea`.
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

/** Formats a value as PostgreSQL text input. */
export function formatValue (value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(formatItem).join(',')}}` : String(value)
}

function formatItem (item: unknown): string {
  if (Array.isArray(item)) return String(formatValue(item))
  if (item === null || item === undefined) return 'null'
  return `"${String(item).replace(/["\\]/g, '\\$&')}"`
}
