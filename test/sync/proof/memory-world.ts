import type { ChangeSource } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { type World, idCount, isQuiet, kinds, proofTenants, serveStorage } from './world.js'

/** Rows in memory, where every write is a transaction. */
export function createMemoryWorld (replace: (changes: ChangeSource) => Partial<ChangeSource> = () => ({})): World {
  const storage = memoryStorage()
  // Rows record their changes with the methods of this object.
  Object.assign(storage.changes, replace({ ...storage.changes }))
  let version = 0
  const save = {
    candidate: (tenantSlug: string, id: number) => storage.candidates.save(tenantSlug, { id, full_name: `Name ${++version}`, version }),
    job: (tenantSlug: string, id: number) => storage.jobs.save(tenantSlug, { id, name: `Name ${++version}`, status: 'published', version }),
    application: (tenantSlug: string, id: number) => changeApplication(tenantSlug, id, ++version)
  }
  const applications = new Map<string, Map<number, number>>(proofTenants.map((tenantSlug) => [tenantSlug, new Map()]))
  const rowsOf = (tenantSlug: string) =>
    Array.from(applications.get(tenantSlug) ?? [], ([id, version]) => ({ id, version }))

  /** A version of `null` removes the application. */
  function changeApplication (tenantSlug: string, id: number, version: number | null): void {
    const rows = applications.get(tenantSlug)
    if (version === null) rows?.delete(id)
    else rows?.set(id, version)
    storage.changes.record(tenantSlug, { kind: 'application', id: String(id), deleted: version === null }).catch(() => {})
  }

  const sources = {
    candidate: storage.candidates,
    job: storage.jobs,
    application: {
      remove: (tenantSlug: string, id: number) => changeApplication(tenantSlug, id, null),
      listAfter: async (tenantSlug: string, { after, limit }: { after: number | null, limit: number }) =>
        rowsOf(tenantSlug).filter(({ id }) => id > (after ?? 0)).toSorted((a, b) => a.id - b.id).slice(0, limit),
      findMany: async (tenantSlug: string, ids: number[]) => rowsOf(tenantSlug).filter(({ id }) => ids.includes(id))
    }
  }
  for (const tenantSlug of proofTenants) {
    for (const kind of kinds) {
      for (let id = 1; id <= idCount; id++) save[kind](tenantSlug, id)
    }
  }

  return {
    async write (random) {
      const tenantSlug = random.pick(proofTenants)
      const kind = random.pick(kinds)
      const id = random.integer(1, idCount)
      if (isQuiet(id)) return 0
      if (random.chance(0.3)) sources[kind].remove(tenantSlug, id)
      else save[kind](tenantSlug, id)
      // Lets readers run.
      await new Promise(setImmediate)
      return 1
    },

    async read (tenantSlug, kind) {
      const page = { after: null, limit: idCount }
      const rows: Array<{ id: number, version?: unknown }> = await sources[kind].listAfter(tenantSlug, page)
      return new Map(rows.map((row) => [row.id, Number(row.version)]))
    },

    async settle () {},
    serve: (port) => serveStorage(storage, port, sources.application)
  }
}
