import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Random } from '../../../examples/demo/data/random.js'
import { createRecruiting, type WebhookStore } from '../../../src/index.js'
import { migrate, postgresStorage, watch } from '../../../src/storages/postgres/index.js'
import type { Teardown } from '../../fixtures/api/app.js'
import { type ProofKind, type ProofTenant, type World, idCount, isQuiet, kinds, proofTenants, readApplications, serveStorage } from './world.js'

const candidateView = `
  create view api_candidates as
    select p.tenant_slug, p.id, p.name as full_name, f.title as headline, null::bigint as source_id, null::bigint as recruiter_id,
      p.created_at, greatest(p.updated_at, f.updated_at) as updated_at, greatest(p.version, f.version) as version
    from people p left join profiles f on f.tenant_slug = p.tenant_slug and f.person = p.id
    where p.is_visible`

const profilesColumns = `
  tenant_slug text not null, person bigint not null, title text not null, version integer not null,
  updated_at timestamptz not null default now(), primary key (tenant_slug, person)`

function watchPeople (pool: pg.Pool): Promise<void> {
  return watch(pool, 'people', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
}

function watchProfiles (pool: pg.Pool): Promise<void> {
  return watch(pool, 'profiles', { kind: 'candidate', id: 'person', tenant: 'tenant_slug' })
}

/**
 * Creates a vendor's tables. Candidates are visible people with an optional profile; triggers record their changes.
 * Jobs are visible positions; the writers record their changes. Applications are an own list, recorded by triggers.
 */
async function createProofTables (pool: pg.Pool): Promise<void> {
  const columns = `
    tenant_slug text not null, id bigint not null, name text not null, is_visible boolean not null default true, version integer not null,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now(), primary key (tenant_slug, id)`
  await pool.query(`
    create sequence versions as integer;
    create table people (${columns});
    create table positions (${columns});
    create table applications (${columns});
    create table profiles (${profilesColumns}) partition by range (person);
    create table profiles_low partition of profiles for values from (0) to (500);
    create table profiles_high partition of profiles for values from (500) to (maxvalue);
    ${candidateView};
    create view api_jobs as
      select tenant_slug, id, name, 'published'::text as status, created_at, updated_at, version from positions where is_visible;
    create view api_applications as select tenant_slug, id, version from applications where is_visible`)
  for (const table of ['people', 'positions', 'applications']) {
    await pool.query(`
      insert into ${table} (tenant_slug, id, name, version)
      select tenant, id, 'Name', nextval('versions') from unnest($1::text[]) as tenant, generate_series(1, $2::integer) as id`,
    [proofTenants, idCount])
  }
  await watchPeople(pool)
  await watchProfiles(pool)
  await watch(pool, 'applications', { kind: 'application', id: 'id', tenant: 'tenant_slug' })
}

/** Writers take this lock in shared mode, so that damage, which takes it exclusively, cannot deadlock with them. */
const damageLock = 73

const next = "version = nextval('versions'), updated_at = now()"
/** Does not touch quiet items, whose ids end in 0. */
const writePast = `
  update people set name = 'Past the triggers', ${next} where id % 10 = 3;
  delete from people where id % 100 = 7`
const lockView = 'lock table api_candidates in access exclusive mode'

/**
 * Returns a function that changes candidates past the triggers, each time in another way that vendors do by mistake.
 * Writers and readers continue.
 */
function createDamage (pool: pg.Pool, webhooks: WebhookStore): Required<World>['damage'] {
  let turn = 0
  const damages: Array<() => Promise<void>> = [
    async function dropTrigger () {
      await alone(`drop trigger changes_candidate_update_recruiting on people; ${writePast}`)
      await sleep(50)
      await watchPeople(pool)
    },
    async function disableTriggers () {
      await alone(`alter table people disable trigger all; ${writePast}`)
      await sleep(50)
      await alone('alter table people enable trigger all')
    },
    async function rebuildTable () {
      await alone(`
        ${lockView};
        create table people_new (like people including all);
        insert into people_new select * from people where id % 100 <> 8;
        drop view api_candidates; drop table people; alter table people_new rename to people;
        ${candidateView}; ${writePast}`)
      await sleep(50)
      await watchPeople(pool)
    },
    async function loadWithoutTriggers () {
      await alone(`
        ${lockView};
        create temp table dumped on commit drop as select * from people where id % 100 <> 9;
        alter table people disable trigger all; truncate people; insert into people select * from dumped; ${writePast};
        alter table people enable trigger all`)
    },
    async function attachPartition () {
      const name = `profiles_${turn}`
      await alone(`
        ${lockView};
        create table ${name} (${profilesColumns});
        insert into ${name} select tenant_slug, id, 'Attached', nextval('versions'), now() from people where id >= 500;
        do $$ begin execute format('drop table %s', (select inhrelid::regclass from pg_inherits where inhparent = 'profiles'::regclass order by inhrelid::regclass::text = 'profiles_low' limit 1)); end $$;
        alter table profiles attach partition ${name} for values from (500) to (maxvalue)`)
      await sleep(50)
      await watchProfiles(pool)
    },
    async function writeAsReplica () {
      await alone(`set local session_replication_role = replica; ${writePast}`)
      await pool.query('select recruiting.end_sync_tokens()')
    },
    async function removeTenant () {
      // Without a rest, like a tenant with its own id.
      await webhooks.removeTenant('globex', { limit: 10_000 })
    }
  ]

  async function alone (sql: string): Promise<void> {
    await pool.query(`begin; select pg_advisory_xact_lock(${damageLock}); ${sql}; commit`)
  }

  return async (check) => {
    await damages[turn++ % damages.length]?.()
    const client = await pool.connect()
    try {
      await client.query('select pg_advisory_lock($1)', [damageLock])
      await check()
    } finally {
      await client.query('select pg_advisory_unlock($1)', [damageLock])
      client.release()
    }
  }
}

/** An item that a write touches. */
interface Touched {
  kind: ProofKind
  tenantSlug: ProofTenant
  id: number
}

/** One write of a transaction. */
interface Write {
  sql: string
  touched: Touched[]
}

const tables = { candidate: 'people', job: 'positions', application: 'applications' }

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

/** Removes an item from the vendor's view, or adds it again. */
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
function pickWrite (random: Random): Write {
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
  return { kind: random.pick(kinds), tenantSlug: random.pick(proofTenants), id: pickId(random) }
}

function pickId (random: Random): number {
  const id = random.integer(1, idCount - 1)
  return isQuiet(id) ? id + 1 : id
}

/**
 * Locks the items until the transaction ends, so that a higher version always commits later. Always locks in the same
 * order, so that writers never deadlock.
 */
function lockItems (items: readonly Touched[]): string {
  const names = new Set(items.map(({ kind, tenantSlug, id }) => `('${kind} ${tenantSlug} ${id}')`))
  return `select pg_advisory_xact_lock_shared(${damageLock}); select pg_advisory_xact_lock(key) from (select distinct hashtext(name) as key from (values ${[...names].join(', ')}) as item (name) order by key) as sorted`
}

/** Creates a vendor's tables in PostgreSQL, and writers that commit late or not at all. */
export async function createPostgresWorld (t: Teardown, pool: pg.Pool, options: Partial<Pick<World, 'serve'>> = {}) {
  await migrate(pool)
  await createProofTables(pool)
  const storage = postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs', changes: 'manual' })
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())

  async function makeWrites (client: pg.PoolClient, writes: Write[], random: Random): Promise<void> {
    const isRecordedByCall = random.chance(0.2)
    const parts = writes.flatMap(({ sql, touched }) => {
      const part = [sql, ...isRecordedByCall ? [] : touched.map(recordJob)]
      if (!random.chance(0.15)) return part
      return ['savepoint one', ...part, random.chance(0.5) ? 'rollback to one' : 'release one']
    })
    const touched = writes.flatMap((write) => write.touched)
    await client.query(['begin', lockItems(touched), ...parts].join(';\n'))
    if (isRecordedByCall) for (const item of touched) await recruiting.changed(item, { transaction: client })
  }

  return {
    async write (random) {
      // Like workers, while readers are between two pages.
      if (random.chance(0.02)) await storage.changes.prune({ retentionDays: 3650, limit: 1000 })
      const writes = Array.from({ length: random.integer(1, 8) }, () => pickWrite(random))
      const client = await pool.connect()
      client.on('error', ignore)
      let isDone = false
      try {
        await makeWrites(client, writes, random)
        // Other writers commit in between.
        if (random.chance(0.3)) await sleep(random.chance(0.1) ? random.integer(100, 300) : random.integer(0, 30))
        await client.query(random.chance(0.12) ? 'rollback' : 'commit')
        isDone = true
      } finally {
        client.off('error', ignore)
        client.release(!isDone)
      }
      return writes.length
    },

    async read (tenantSlug, kind) {
      const { rows } = await pool.query<{ id: string, version: number }>(`select id, version from api_${kind}s where tenant_slug = $1`, [tenantSlug])
      return new Map(rows.map(({ id, version }) => [Number(id), version]))
    },

    async settle () {
      const text = 'select pg_snapshot_xmin(now) = pg_snapshot_xmax(now) as is_quiet from pg_current_snapshot() as now'
      while ((await pool.query<{ is_quiet: boolean }>(text)).rows[0]?.is_quiet !== true) await sleep(5)
    },

    damage: createDamage(pool, storage.webhooks),
    serve: (port) => serveStorage(storage, port, readApplications(pool)),
    ...options
  } satisfies World
}

/** If the server is killed while a writer waits, the writer's next query fails. */
function ignore (): void {}

/** Triggers record the other kinds. */
function recordJob ({ kind, tenantSlug, id }: Touched): string {
  return kind !== 'job' ? 'select' : `select recruiting.changed('${tenantSlug}', 'job', '${id}')`
}
