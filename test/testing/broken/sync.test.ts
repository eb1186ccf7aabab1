import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import type { Change, ChangeSource } from '../../../src/ports/index.js'
import { runCases, storageCases, type StorageHarness } from '../../../src/testing/index.js'
import { testMistakes } from '../../fixtures/delivery/broken-storage.js'

testMistakes([
  {
    storage: 'forgets deletions',
    caughtBy: 'a deletion is listed like any change',
    breaks: ({ changes }) => ({
      changes: { record: async (tenantSlug, change, transaction) => change.deleted ? undefined : changes.record(tenantSlug, change, transaction) }
    })
  },
  {
    storage: 'gives a position that goes back',
    caughtBy: 'changes are listed in pages, in order, each once',
    breaks: ({ changes }) => ({
      changes: {
        async list (tenantSlug, kind, query) {
          const page = await changes.list(tenantSlug, kind, query)
          return page === null || page.hasMore ? page : { ...page, position: query.after }
        }
      }
    })
  },
  {
    storage: 'mixes the changes of tenants',
    caughtBy: 'changes of another tenant or resource are not listed',
    breaks: ({ changes }) => ({
      changes: {
        list: (_tenantSlug, kind, query) => changes.list('acme', kind, query),
        record: (_tenantSlug, change, transaction) => changes.record('acme', change, transaction)
      }
    })
  },
  {
    storage: 'mixes candidates and jobs',
    caughtBy: 'changes of another tenant or resource are not listed',
    breaks: ({ changes }) => ({
      changes: {
        list: (tenantSlug, _kind, query) => changes.list(tenantSlug, 'job', query),
        record: (tenantSlug, change, transaction) => changes.record(tenantSlug, { ...change, kind: 'job' }, transaction)
      }
    })
  },
  {
    storage: 'accepts positions before pruned changes',
    caughtBy: 'unknown positions and those before pruned changes are not accepted',
    breaks: ({ changes }) => ({
      changes: {
        list: async (tenantSlug, kind, query) => await changes.list(tenantSlug, kind, query) ?? { ids: [], position: query.after, hasMore: false }
      }
    })
  },
  {
    storage: 'remembers only the first change of an item',
    caughtBy: 'an item that changed twice comes after both changes',
    breaks: ({ changes }) => {
      const known = new Set<string>()
      return {
        changes: {
          async record (tenantSlug, change, transaction) {
            const item = JSON.stringify([tenantSlug, change.kind, change.id])
            if (known.has(item)) return
            await changes.record(tenantSlug, change, transaction)
            known.add(item)
          }
        }
      }
    }
  },
  {
    storage: 'accepts a transaction that it ignores',
    caughtBy: "a change commits with the host's transaction, or is rejected by a storage without transactions",
    breaks: ({ changes }) => ({ changes: { record: (tenantSlug, change) => changes.record(tenantSlug, change) } })
  },
  {
    storage: 'makes a secret for each call',
    caughtBy: 'the secret of tokens has 32 bytes and stays the same',
    breaks: () => ({ changes: { tokenSecret: async () => crypto.getRandomValues(new Uint8Array(32)) } })
  },
  {
    storage: 'prunes everything at once',
    caughtBy: 'changes are pruned in batches, the oldest first',
    breaks: ({ changes }) => ({ changes: { prune: (options) => changes.prune({ ...options, limit: 1000 }) } })
  },
  {
    storage: 'always says that something is held back',
    caughtBy: 'readers are not behind while no transaction is open',
    breaks: () => ({ changes: { stats: async () => ({ heldBackMs: 5, heldBackBy: 'somebody' }) } })
  },
  {
    storage: 'knows the positions of the tenant that had the new name of a renamed one',
    caughtBy: 'positions of a renamed tenant and of its new name are not known',
    breaks: ({ data }) => {
      const { removeTenant } = data.changes
      data.changes.removeTenant = (tenantSlug) => { if (tenantSlug !== 'globex') removeTenant(tenantSlug) }
      return {}
    }
  },
  {
    storage: 'knows the positions of a removed tenant',
    caughtBy: 'positions of a removed tenant are not known, also if the name is taken again',
    breaks: ({ data }) => {
      data.changes.removeTenant = () => {}
      return {}
    }
  },
  {
    storage: 'reads the rows with the highest id first',
    caughtBy: 'candidates: rows are read by ascending id, after an id',
    breaks: ({ candidates }) => ({
      candidates: { listAfter: async (tenantSlug, query) => (await candidates.listAfter?.(tenantSlug, query) ?? []).toReversed() }
    })
  },
  {
    storage: 'leaves out rows that it does not find',
    caughtBy: 'jobs: rows are found in the order of their ids',
    breaks: ({ jobs }) => ({
      jobs: { findMany: async (tenantSlug, ids, query) => (await jobs.findMany?.(tenantSlug, ids, query) ?? []).filter((row) => row !== null) }
    })
  }
])

interface Transaction { changes: Array<[tenantSlug: string, change: Change]> }

/** A storage whose changes are visible once their transaction commits. `order` decides where they come in the order. */
function makeTransactional (order: 'commit' | 'record'): StorageHarness {
  const storage = memoryStorage()
  const { changes } = storage
  const open: Transaction[] = []
  const transactional: Partial<ChangeSource> = {
    async record (tenantSlug, change, transaction) {
      const known = open.find((one) => one === transaction)
      if (known === undefined) return changes.record(tenantSlug, change, transaction)
      if (order === 'record') await changes.record(tenantSlug, change)
      known.changes.push([tenantSlug, change])
    },
    // The right order hides nothing, because nothing is recorded before the commit.
    async list (tenantSlug, kind, query) {
      const page = await changes.list(tenantSlug, kind, query)
      const hidden = new Set(order === 'record' ? open.flatMap((transaction) => transaction.changes.map(([, { id }]) => id)) : [])
      return page === null ? null : { ...page, ids: page.ids.filter((id) => !hidden.has(id)) }
    }
  }
  return {
    storage: { ...storage, changes: { ...changes, ...transactional } },
    saveCandidates () {},
    saveJobs () {},
    async begin () {
      const transaction: Transaction = { changes: [] }
      open.push(transaction)
      const end = (): void => { open.splice(open.indexOf(transaction), 1) }
      return {
        transaction,
        async commit () {
          end()
          if (order === 'commit') for (const [tenantSlug, change] of transaction.changes) await changes.record(tenantSlug, change)
        },
        async rollback () { end() }
      }
    }
  }
}

t.test('a storage that passes by what commits late is caught', async (t) => {
  const name = 'a change that commits late is not passed by'
  const cases = storageCases.filter((one) => one.name === name)
  const run = async (order: 'commit' | 'record') => (await runCases(cases, () => makeTransactional(order))).map(({ error }) => error === null)
  t.same(await run('record'), [false])
  t.same(await run('commit'), [true])
})
