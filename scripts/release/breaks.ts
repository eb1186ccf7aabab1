/** Who writes a value: callers of the package or the API (`given`), or the package or the API itself (`read`). */
export type Direction = 'given' | 'read'

/** A part of a release's contract, such as a member of a type or a property of a response. */
export interface Part {
  /** A description, without the parts below it. */
  text: string
  /** Its possible types or values. */
  choices: string[]
  /** The path of the parent part; `null` for none. */
  parent: string | null
  isRequired: boolean
  /** Empty if the writer is unknown. */
  directions: Set<Direction>
}

/** A release's parts by path. */
export type Shape = Map<string, Part>

/** Adds a part, or only the direction to an existing part. */
export function addPart (shape: Shape, path: string, part: Omit<Part, 'directions'>, direction: Direction | null): void {
  const existing = shape.get(path) ?? { ...part, directions: new Set() }
  if (direction !== null) existing.directions.add(direction)
  shape.set(path, existing)
}

/** Lists the breaking changes since the previous release, one line each. */
export function findBreaks (before: Shape, after: Shape): string[] {
  const lines = [...before].map(([path, part]) => {
    // If its parent was removed, one line about the parent is enough.
    if (part.parent !== null && !after.has(part.parent)) return null
    const change = describeChange(part, after.get(path))
    return change === null ? null : `${path}: ${change}`
  })
  const added = [...after].filter(
    ([path, part]) =>
      !before.has(path) &&
      part.isRequired &&
      isWritten(part, 'given') &&
      part.parent !== null &&
      before.has(part.parent)
  )
  return [...lines.filter((line) => line !== null), ...added.map(([path]) => `${path}: new and required`)]
}

function describeChange (before: Part, after: Part | undefined): string | null {
  if (after === undefined) return 'removed'
  if (before.text !== after.text || hasOtherChoices(before, after)) return `was ${show(before)}, is ${show(after)}`
  if (!before.isRequired && after.isRequired && isWritten(after, 'given')) return 'was optional, is required'
  if (before.isRequired && !after.isRequired && isWritten(before, 'read')) return 'was always there, is optional'
  return null
}

/**
 * Fewer choices break writers of the value, more choices break its readers. Readers must expect new values, but not new
 * types.
 */
function hasOtherChoices (before: Part, after: Part): boolean {
  const [old, current] = [before.choices, after.choices]
  const isLost = old.some((choice) => !current.includes(choice))
  const isNewType = current.some((choice) => !old.includes(choice) && !/^['"\d]/.test(choice))
  return (isLost && isWritten(before, 'given')) || (isNewType && isWritten(before, 'read'))
}

function show ({ text, choices }: Part): string {
  return [choices.join(' | '), text].filter((one) => one !== '').join(', ')
}

function isWritten ({ directions }: Part, direction: Direction): boolean {
  return directions.size === 0 || directions.has(direction)
}

/** Whether two version numbers allow the later version to break something. */
export function mayBreak (before: string, after: string): boolean {
  const [[oldMajor, oldMinor], [major, minor]] = [before.split('.'), after.split('.')]
  return oldMajor !== major || (major === '0' && oldMinor !== minor)
}
