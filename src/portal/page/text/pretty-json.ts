const token = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g
const opening = new Set<string | undefined>(['{', '['])
const closing = new Set<string | undefined>(['}', ']'])

/**
 * Indents JSON. Its values are not parsed, so that every number, escape and repeated name stays as it is written.
 * Anything else is returned as it is.
 */
export function prettyJson (text: string): string {
  if (!isJson(text)) return text
  const tokens = Array.from(text.matchAll(token), ([part]) => part)
  let depth = 0
  let result = ''
  for (const [index, part] of tokens.entries()) {
    const isEmpty = opening.has(tokens[index - 1]) && closing.has(part)
    if (closing.has(part)) {
      depth -= 1
      if (!isEmpty) result += newLine(depth)
    }
    result += part
    if (opening.has(part)) depth += 1
    if (part === ':') result += ' '
    const isLineEnd = part === ',' || (opening.has(part) && !closing.has(tokens[index + 1]))
    if (isLineEnd) result += newLine(depth)
  }
  return result
}

function newLine (depth: number): string {
  return `\n${'  '.repeat(depth)}`
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
