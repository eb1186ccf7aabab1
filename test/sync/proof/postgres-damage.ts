import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { WebhookStore } from '../../../src/index.js'
import { endSyncTokens } from '../../../src/postgres/index.js'
import type { World } from './world.js'
import { candidateView, profilesColumns, watchPeople, watchProfiles } from './postgres-tables.js'

/** Writers hold this lock shared, so that damage which has it does not wait for them in a circle. */
export const damageLock = 73

const next = "version = nextval('versions'), updated_at = now()"
/** Nobody expects quiet items, whose ids end in 0, to change. */
const writePast = `
  update people set name = 'Past the triggers', ${next} where id % 10 = 3;
  delete from people where id % 100 = 7`
const lockView = 'lock table api_candidates in access exclusive mode'

/**
 * Returns a function that does, in turns, everything to the tables of candidates that a vendor does without thinking of sync:
 * rows change that no trigger sees. Writers and readers go on.
 */
export function createDamage (pool: pg.Pool, webhooks: WebhookStore): Required<World>['damage'] {
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
      await endSyncTokens(pool)
    },
    async function removeTenant () {
      // Without a rest, as of a tenant with an id of its own.
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
