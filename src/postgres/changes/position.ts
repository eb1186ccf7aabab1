/** A place among events or changes: after the one with the number `seq`. */
interface Position {
  seq: string
  /** The database that gave it. */
  epoch: string
}

const pattern = /^(?<seq>\d{1,18})\.(?<epoch>[\da-f]{16})$/

/** Formats a position as text. */
export function formatPosition ({ seq, epoch }: Position): string {
  return `${seq}.${epoch}`
}

/** Parses a position; `null` if it cannot be one of ours. */
export function parsePosition (text: string): Position | null {
  const { seq, epoch } = pattern.exec(text)?.groups ?? {}
  return seq === undefined || epoch === undefined ? null : { seq, epoch }
}
