/** Returns the name that takes the fewest edits to reach, whatever the case of its letters: most unknown names are misspelt. */
export function findNearestName (given: string, names: readonly string[]): string {
  const edits = (name: string): number => countEdits(given.toLowerCase(), name.toLowerCase())
  const [nearest = ''] = names.toSorted((one, other) => edits(one) - edits(other))
  return nearest
}

/** Counts the letters to insert, delete or replace (Levenshtein), one row of the table after another. */
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
