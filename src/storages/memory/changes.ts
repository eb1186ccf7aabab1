import { randomBytes } from 'node:crypto'
import { assertKnownNames } from '../../core/shared/read-options.js'
import type { ChangeKind, ChangeSource, Clock } from '../../core/ports/index.js'
import { rejectTransaction } from './checks.js'

const dayMs = 24 * 60 * 60 * 1000

/** A tenant's changes of one resource. */
interface Feed {
  /** Number and time of the last change of each id, in the order of the numbers. */
  readonly last: Map<string, { number: number, at: number }>
  /** Changes up to this number were pruned. */
  prunedTo: number
}

/** Options of `memoryChanges`. */
export interface MemoryChangesOptions {
  /** The clock for `prune`. @default the system clock */
  clock?: Pick<Clock, 'now'>
}

/** Changes in memory. */
export interface MemoryChanges extends ChangeSource {
  /** Deletes a tenant's changes and invalidates its positions. */
  removeTenant (tenant: string): void
}

/** Records changes in the memory of this process, for example for `candidatesFrom`. Throws `invalid_option`. */
export function memoryChanges (options: MemoryChangesOptions = {}): MemoryChanges {
  assertKnownNames(options, { clock: true } satisfies Record<keyof MemoryChangesOptions, true>)
  const { clock = { now: Date.now } } = options
  // A restarted process has other numbers, so it rejects the previous process's positions and tokens.
  const epoch = randomBytes(8).toString('hex')
  const secret = randomBytes(32)
  const feeds = new Map<string, Map<ChangeKind, Feed>>()
  /** Positions with lower numbers are older than the tenant's last rename or removal. */
  const firstNumbers = new Map<string, number>()
  let lastNumber = 0

  function openFeed (tenant: string, kind: ChangeKind): Feed {
    const kinds = feeds.get(tenant) ?? new Map<ChangeKind, Feed>()
    feeds.set(tenant, kinds)
    const feed = kinds.get(kind) ?? { last: new Map(), prunedTo: 0 }
    kinds.set(kind, feed)
    return feed
  }

  function add (tenant: string, kind: ChangeKind, id: string): void {
    const { last } = openFeed(tenant, kind)
    // Moves to the end, so that the map stays in the order of the numbers.
    last.delete(id)
    last.set(id, { number: ++lastNumber, at: clock.now() })
  }

  return {
    async begin () {
      return formatPosition(epoch, lastNumber)
    },

    async list (tenant, kind, { after, limit }) {
      const number = parsePosition(epoch, after)
      const { last, prunedTo } = feeds.get(tenant)?.get(kind) ?? {
        last: new Map<string, { number: number }>(), prunedTo: 0
      }
      if (number === null || number > lastNumber || number < prunedTo || number < (firstNumbers.get(tenant) ?? 0)) {
        return null
      }
      const next = [...last].filter(([, change]) => change.number > number)
      const page = next.slice(0, limit)
      const hasMore = next.length > limit
      const position = hasMore ? page.at(-1)?.[1].number ?? number : lastNumber
      return { ids: page.map(([id]) => id), position: formatPosition(epoch, position), hasMore }
    },

    async record (tenant, { kind, id }, transaction) {
      rejectTransaction(transaction)
      add(tenant, kind, id)
    },

    async tokenSecret () {
      return secret
    },

    async prune ({ retentionDays, limit }) {
      const before = clock.now() - retentionDays * dayMs
      let count = 0
      for (const feed of [...feeds.values()].flatMap((kinds) => [...kinds.values()])) {
        for (const [id, { number, at }] of feed.last) {
          if (count === limit) break
          // The clock may have been ahead for a while: later changes may be older.
          if (at >= before) continue
          feed.last.delete(id)
          feed.prunedTo = Math.max(feed.prunedTo, number)
          count++
        }
      }
      return count
    },

    async stats () {
      return { heldBackMs: 0, heldBackBy: null }
    },

    removeTenant (tenant) {
      feeds.delete(tenant)
      firstNumbers.set(tenant, ++lastNumber)
    }
  }
}

function formatPosition (epoch: string, number: number): string {
  return `${epoch}.${number}`
}

/** Returns the number of a position, or `null` if another process created it. */
function parsePosition (epoch: string, position: string): number | null {
  const [given, number = ''] = position.split('.')
  return given === epoch && /^\d+$/.test(number) ? Number(number) : null
}
