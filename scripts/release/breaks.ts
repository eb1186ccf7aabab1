/** Who writes a value: callers of the package or the API (`given`), or the package or the API (`read`). */
export type Direction = 'given' | 'read'

/** A part of what a release promises, such as a member of a type or a property of a response. */
export interface Part {
  /** What it is, without the parts below it. */
  text: string
  /** Its possible types or values. */
  choices: string[]
  /** The path of the part that it belongs to; `null` for none. */
  parent: string | null
  isRequired: boolean
  /** Empty if nothing shows who writes it. */
  directions: Set<Direction>
}

/** The parts of a release by their paths. */
export type Shape = Map<string, Part>

/** Adds a part, or only the direction to a part that exists. */
export function addPart (shape: Shape, path: string, part: Omit<Part, 'directions'>, direction: Direction | null): void {
  const existing = shape.get(path) ?? { ...part, directions: new Set() }
  if (direction !== null) existing.directions.add(direction)
  shape.set(path, existing)
}

/** Lists what worked with the previous release and no longer does, one line each. */
export function findBreaks (before: Shape, after: Shape): string[] {
  const lines = [...before].map(([path, part]) => {
    // Without its parent, one line about the parent is enough.
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
 * Fewer choices break those who write the value, more choices those who read it. Readers must expect new values, but
 * not new types.
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

/** Whether the numbers of two versions say that the later one may break something. */
export function mayBreak (before: string, after: string): boolean {
  const [[oldMajor, oldMinor], [major, minor]] = [before.split('.'), after.split('.')]
  return oldMajor !== major || (major === '0' && oldMinor !== minor)
}
