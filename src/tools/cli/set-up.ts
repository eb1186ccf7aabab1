import { isRecruitingApiError } from '../../core/shared/errors.js'
import {
  findHostRelation, type HostRelation, listGrants, listHeld, listLacking, listLackingOnLists
} from '../../storages/postgres/grants.js'
import {
  migrate as migrateSchema, watch as watchTable, type WatchOptions, watchSql
} from '../../storages/postgres/index.js'
import { candidateKind, jobKind } from '../../storages/postgres/lists/row-kind.js'
import { inTransaction } from '../../storages/postgres/pool.js'
import { ask, type RunQuery } from '../../storages/postgres/session.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { type Command, type Flags, type Options, CommandError, UsageError } from './command.js'
import { confirm, showResult, withProgress } from './terminal.js'

export const migrate: Command = {
  options: { 'dry-run': { value: null, about: 'shows what would run, without changing anything' } },
  runsUnmigrated: true,

  async run (context) {
    const dryRun = context.flags.has('dry-run')
    const { pool, schema } = context
    const migrations = await withProgress(context.io, 'migrating', () => migrateSchema(pool, { schema, dryRun }))
    const done = dryRun ? 'would run' : 'ran'
    const lines = migrations.length === 0 ? ['nothing to do'] : migrations.map((name) => `${done} ${name}`)
    showResult(context, { migrations, dryRun }, lines)
  }
}

export const watch: Command = {
  options: {
    kind: {
      value: 'KIND',
      about: 'candidate, job or the kind of an own list: what the rows belong to',
      isRequired: true
    },
    relation: { value: 'TABLE', about: 'your table, such as public.people', isRequired: true },
    id: {
      value: 'COLUMN',
      about: "the column with the item's id, or an SQL expression over row",
      isRequired: true
    },
    tenant: {
      value: 'COLUMN',
      about:
        "the column with the tenant's id, or its slug if your servers have no option tenantId; or an SQL expression over row",
      isRequired: true
    },
    emit: {
      value: 'JSON',
      about:
        'the events that your table emits, such as {"type":"application.updated","when":["stage_id"],"data":["id"]}'
    },
    sql: {
      value: null,
      about: 'prints the SQL for a migration and changes nothing; run it where the table has its new columns'
    }
  },

  async run (context) {
    const { flags, pool, schema } = context
    // Here, --tenant is the name of a column.
    context.audit.tenantSlug = null
    const relation = flags.required('relation')
    const watched = { kind: flags.required('kind'), id: flags.required('id'), tenant: flags.required('tenant') }
    const emit = readEmit(flags.text('emit'))
    function fail (error: unknown): never {
      if (isRecruitingApiError(error) && error.code === 'invalid_option') {
        throw new UsageError(`--${error.message}`, { cause: error })
      }
      throw error
    }
    if (flags.has('sql')) {
      const sql = await watchSql(pool, relation, { schema, ...watched, ...emit }).catch(fail)
      showResult(context, { relation, ...watched, ...emit, sql }, [sql])
      return
    }
    await watchTable(pool, relation, { schema, ...watched, ...emit }).catch(fail)
    showResult(context, { relation, ...watched, ...emit }, [`${relation} is watched for the kind ${watched.kind}`])
  }
}

/** `watch` checks the values. */
function readEmit (text: string | undefined): Pick<WatchOptions, 'emit'> {
  if (text === undefined) return {}
  try {
    return { emit: JSON.parse(text) }
  } catch (error) {
    throw new UsageError('--emit: expected JSON, such as {"type":"job.updated","when":["status"],"data":["id"]}', {
      cause: error
    })
  }
}

const kinds = [candidateKind, jobKind]

export const listOptions: Options = {
  candidates: { value: 'RELATION', about: 'your table or view of candidates, such as public.api_candidates' },
  jobs: { value: 'RELATION', about: 'your table or view of jobs' }
}

const listNames = kinds.map(({ option }) => option)

export function checkLists (flags: Flags): void {
  flags.assertAlone('no-lists', ...listNames)
}

/** Finds the host's relations that the flags name; `null` for one that does not exist. */
export async function findLists (
  query: RunQuery, schema: string, flags: Flags
): Promise<Array<{ option: string, relation: HostRelation | null }>> {
  if (flags.has('no-lists')) return []
  return Promise.all(kinds.map(async ({ option }) => {
    const relation = await findHostRelation(query, flags.text(option) ?? `${quoteName(schema)}.${option}`)
    return { option, relation }
  }))
}

export const grants: Command = {
  options: {
    role: {
      value: 'NAME',
      about: 'the database user of your servers and workers, or a role that they are members of'
    },
    sql: { value: null, about: 'shows the privileges that roles have on both relations, to grant them to new views' },
    ...listOptions,
    'no-lists': { value: null, about: 'skips both, if your server has no lists of candidates and jobs' },
    emit: { value: null, about: 'only for a process that emits events and records changes, without secrets and lists' },
    apply: { value: null, about: 'grants the privileges, instead of showing the statements' }
  },

  async run (context) {
    const { flags, pool, schema } = context
    checkLists(flags)
    flags.assertAlone('sql', 'role', 'apply', 'emit', 'no-lists')
    flags.assertAlone('emit', ...listNames, 'no-lists')
    const query: RunQuery = (text, values) => ask(pool, text, values)
    const role = flags.has('sql') ? null : flags.text('role')
    if (role === undefined) throw new UsageError('--role: missing, add --role NAME')
    if (role !== null && (await query('select from pg_roles where rolname = $1', [role])).length === 0) {
      throw new CommandError(`--role: there is no role ${role}: create it first`)
    }
    const isEmitter = flags.has('emit')
    const lists = isEmitter
      ? []
      : (await findLists(query, schema, flags)).map(({ option, relation }) => {
          if (relation !== null) return relation
          const name = flags.text(option) ?? `${schema}.${option}`
          throw new CommandError(`--${option}: there is no table or view ${name}: name your own, ` +
        `--${option} public.api_${option}, or add --no-lists if your server has no lists of candidates and jobs`)
        })
    if (role === null) {
      const statements = await listHeld(query, lists)
      showResult(context, { statements }, statements.map((statement) => `${statement};`))
      return
    }
    const statements = listGrants(schema, role, lists, isEmitter)
    if (!flags.has('apply')) {
      showResult(context, { role, statements, applied: false }, statements.map((statement) => `${statement};`))
      return
    }
    const privileges = `${role} the privileges of ${isEmitter ? 'processes that only emit' : 'servers and workers'}`
    const granted = [`the schema ${schema}`, ...lists.map((list) => `${list.schema}.${list.name}`)]
    await confirm(context, `Grants ${privileges} on ${granted.join(', ')}.`)
    await inTransaction(pool, async (client) => {
      for (const statement of statements) await client.query(statement)
      const queryAfter: RunQuery = (text, values) => ask(client, text, values)
      // Without the privilege to grant, PostgreSQL may warn instead of failing.
      const lacking = [
        ...await listLacking(queryAfter, schema, role, isEmitter), ...await listLackingOnLists(queryAfter, role, lists)
      ]
      if (lacking.length === 0) return
      throw new CommandError(
        `${role} still lacks ${lacking.join(', ')}: run this as the owner of the schema and of your tables`)
    })
    showResult(context, { role, statements, applied: true }, [`granted ${privileges}`])
  }
}
