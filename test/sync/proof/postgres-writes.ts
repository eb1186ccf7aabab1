import type { Random } from '../../../examples/demo/data/random.js'
import type { ChangeKind } from '../../../src/index.js'
import { damageLock } from './postgres-damage.js'
import { type ProofTenant, idCount, isQuiet, proofTenants } from './world.js'

/** An item that a write touches. */
export interface Touched {
  kind: ChangeKind
  tenantSlug: ProofTenant
  id: number
}

/** One write of a transaction. */
export interface Write {
  sql: string
  touched: Touched[]
}

const tables = { candidate: 'people', job: 'positions' }
const next = "version = nextval('versions'), updated_at = now()"

function where ({ tenantSlug, id }: Touched): string {
  return `where tenant_slug = '${tenantSlug}' and id = ${id}`
}

function save ({ kind, tenantSlug, id }: Touched, random: Random): string {
  return `insert into ${tables[kind]} (tenant_slug, id, name, version)
    values ('${tenantSlug}', ${id}, 'Name ${random.integer(1, 1e6)}', nextval('versions'))
    on conflict (tenant_slug, id) do update set name = excluded.name, ${next}`
}

function remove (item: Touched): string {
  return `delete from ${tables[item.kind]} ${where(item)}`
}

/** Leaves the vendor's view, or enters it. */
function toggle (item: Touched): string {
  return `update ${tables[item.kind]} set is_visible = not is_visible, ${next} ${where(item)}`
}

function describe ({ tenantSlug, id }: Touched): string {
  return `insert into profiles (tenant_slug, person, title, version) values ('${tenantSlug}', ${id}, 'Title', nextval('versions'))
    on conflict (tenant_slug, person) do update set ${next}`
}

function transfer (item: Touched, to: ProofTenant): string {
  return `update ${tables[item.kind]} set tenant_slug = '${to}', ${next} ${where(item)}`
}

/** Picks a write of a random kind. */
export function pickWrite (random: Random): Write {
  const item = pickItem(random)
  const kind = random.integer(1, 100)
  if (kind <= 50) return { sql: save(item, random), touched: [item] }
  if (kind <= 62) return { sql: remove(item), touched: [item] }
  if (kind <= 77) return { sql: toggle(item), touched: [item] }
  if (kind <= 87 && item.kind === 'candidate') return { sql: describe(item), touched: [item] }
  if (kind <= 94) {
    const merged = { ...item, id: pickId(random) }
    return { sql: `${remove(merged)}; ${save(item, random)}`, touched: [item, merged] }
  }
  const tenantSlug = random.pick(proofTenants.filter((slug) => slug !== item.tenantSlug))
  const there = { ...item, tenantSlug }
  return { sql: `${remove(there)}; ${transfer(item, tenantSlug)}`, touched: [item, there] }
}

function pickItem (random: Random): Touched {
  return { kind: random.pick(['candidate', 'job'] as const), tenantSlug: random.pick(proofTenants), id: pickId(random) }
}

function pickId (random: Random): number {
  const id = random.integer(1, idCount - 1)
  return isQuiet(id) ? id + 1 : id
}

/**
 * Locks the items until the transaction ends, so that a higher version always commits later. Locked in one order, they never
 * wait in a circle.
 */
export function lockItems (items: readonly Touched[]): string {
  const names = new Set(items.map(({ kind, tenantSlug, id }) => `('${kind} ${tenantSlug} ${id}')`))
  return `select pg_advisory_xact_lock_shared(${damageLock}); select pg_advisory_xact_lock(key) from (select distinct hashtext(name) as key from (values ${[...names].join(', ')}) as item (name) order by key) as sorted`
}
