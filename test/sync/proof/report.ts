import type { Versions } from './world.js'

/** The differences between a copy and the table. */
export interface Differences {
  /** Items that are only in the table. */
  missing: number
  /** Items that are only in the copy. */
  leftOver: number
  /** Items in another state. */
  outdated: number
}

export interface Report {
  operations: number
  kills: number
  damages: number
  crashes: number
  copies: number
  /** The differences of all copies. */
  sync: Differences & { olderStates: number }
  /** The differences of one copy. */
  updatedAfter: Differences
}

export const noDifferences: Differences = { missing: 0, leftOver: 0, outdated: 0 }

export function compare (copy: Versions, table: Versions): Differences {
  const ids = [...table.keys()]
  return {
    missing: ids.filter((id) => !copy.has(id)).length,
    leftOver: [...copy.keys()].filter((id) => !table.has(id)).length,
    outdated: ids.filter((id) => copy.has(id) && copy.get(id) !== table.get(id)).length
  }
}

export function addDifferences (a: Differences, b: Differences): Differences {
  return { missing: a.missing + b.missing, leftOver: a.leftOver + b.leftOver, outdated: a.outdated + b.outdated }
}

/** Formats a report as the table of docs/measurements.md. */
export function formatReport ({ operations, kills, damages, crashes, copies, sync, updatedAfter }: Report): string {
  const number = new Intl.NumberFormat('en-US')
  const row = (name: string, { missing, leftOver, outdated }: Differences): string => `| ${name} | ${missing} | ${leftOver} | ${outdated} |`
  return [
    `${number.format(operations)} writes, ${kills} kills of the server, ${damages} times unrecorded changes, ${number.format(crashes)} crashes of ${copies} readers`,
    '| method | missing rows | extra rows | outdated rows |',
    '|---|---|---|---|',
    row('`sync`', sync),
    row('`filter[updated_after]`', updatedAfter)
  ].join('\n')
}
