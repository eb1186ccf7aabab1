/** Whether every storage can keep a text: no NUL, no surrogate without its other half. */
export function isStorableText (text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether all texts within a JSON value can be kept. Walks without recursion: a body may be nested 30,000 deep. */
export function isStorableJson (value: unknown): boolean {
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === 'string' && !isStorableText(next)) return false
    if (typeof next !== 'object' || next === null) continue
    for (const [name, member] of Object.entries(next)) rest.push(name, member)
  }
  return true
}
