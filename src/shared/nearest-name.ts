/** Returns the name with the fewest edits from `given`, ignoring case: most unknown names are misspelt. */
export function findNearestName (given: string, names: readonly string[]): string {
  const edits = (name: string): number => countEdits(given.toLowerCase(), name.toLowerCase())
  const [nearest = ''] = names.toSorted((one, other) => edits(one) - edits(other))
  return nearest
}

/** Returns the Levenshtein distance, computed row by row. */
function countEdits (from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      const [replaced = 0, deleted = 0] = row.slice(column)
      const [inserted = 0] = next.slice(column)
      next.push(Math.min(replaced + Number(letter !== other), deleted + 1, inserted + 1))
    }
    row = next
  }
  const [edits = 0] = row.slice(-1)
  return edits
}
