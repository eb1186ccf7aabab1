/** A place in an order of transactions: after the item `(xid, id)`. */
interface Position {
  xid: string
  /** Empty or 0: before all items of the transaction. */
  id: string
  /** The database that gave it. */
  epoch: string
}

const pattern = /^(?<xid>\d{1,19})\.(?<id>[!-~]{0,64})\.(?<epoch>[\da-f]{16})$/

/** Formats a position as text. */
export function formatPosition ({ xid, id, epoch }: Position): string {
  return `${xid}.${id}.${epoch}`
}

/** Parses a position; `null` if it cannot be one of ours. */
export function parsePosition (text: string): Position | null {
  const { xid, id, epoch } = pattern.exec(text)?.groups ?? {}
  return xid === undefined || id === undefined || epoch === undefined ? null : { xid, id, epoch }
}
