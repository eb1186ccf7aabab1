import { inTransaction } from '../postgres/pool.js'
import { type HostRelation, findHostRelation, listGrants, listLacking, listLackingOnLists } from '../postgres/grants.js'
import { candidateKind, jobKind } from '../postgres/lists/row-kind.js'
import { ask, type RunQuery } from '../postgres/session.js'
import { quoteName } from '../postgres/sql.js'
import { type Command, type Context, type Flags, type Options, RefusedError, UsageError } from './command.js'
import { confirm, showResult } from './terminal.js'

const kinds = [candidateKind, jobKind]

/** The options that name the host's relations. */
export const listOptions: Options = {
  candidates: { value: 'RELATION', about: 'your table or view of candidates, such as public.api_candidates' },
  jobs: { value: 'RELATION', about: 'your table or view of jobs' }
}

/** Throws if `--no-lists` is given with the name of a relation. */
export function checkLists (flags: Flags): void {
  const named = kinds.find(({ option }) => flags.has(option))
  if (flags.has('no-lists') && named !== undefined) {
    throw new UsageError(`--no-lists: cannot be combined with --${named.option}`)
  }
}

/** Finds the relations of the host that the flags name. `null` stands for one that does not exist. */
export async function findLists (
  query: RunQuery,
  schema: string,
  flags: Flags
): Promise<Array<{ option: string; relation: HostRelation | null }>> {
  if (flags.has('no-lists')) return []
  return Promise.all(
    kinds.map(async ({ option }) => {
      const relation = await findHostRelation(query, flags.text(option) ?? `${quoteName(schema)}.${option}`)
      return { option, relation }
    })
  )
}

export const grants: Command = {
  options: {
    role: {
      value: 'NAME',
      about: 'the database user of your servers and workers, or a role that they are members of',
      isRequired: true
    },
    ...listOptions,
    'no-lists': { value: null, about: 'grants neither, if your server has no lists of candidates and jobs' },
    apply: { value: null, about: 'grants the privileges, instead of showing the statements' }
  },

  async run (context) {
    const { flags, pool, schema } = context
    checkLists(flags)
    const isApplied = flags.has('apply')
    const query: RunQuery = (text, values) => ask(pool, text, values)
    const role = flags.required('role')
    if ((await query('select from pg_roles where rolname = $1', [role])).length === 0) {
      throw new RefusedError(`--role: there is no role ${role}: create it first`)
    }
    const lists = (await findLists(query, schema, flags)).map(({ option, relation }) => {
      if (relation !== null) return relation
      throw new RefusedError(
        `--${option}: there is no table or view ${flags.text(option) ?? `${schema}.${option}`}: name your own, --${option} public.api_${option}, or add --no-lists if your server has no lists of candidates and jobs`
      )
    })
    const statements = listGrants(schema, role, lists)
    if (isApplied) await apply(context, role, lists, statements)
    showResult(
      context,
      { role, statements, applied: isApplied },
      isApplied
        ? [`granted ${role} the privileges of servers and workers`]
        : statements.map((statement) => `${statement};`)
    )
  }
}

async function apply (
  context: Context,
  role: string,
  lists: readonly HostRelation[],
  statements: readonly string[]
): Promise<void> {
  const { pool, schema } = context
  await confirm(
    context,
    `Grants ${role} the privileges of servers and workers on ${[`the schema ${schema}`, ...lists.map((list) => `${list.schema}.${list.name}`)].join(', ')}.`
  )
  await inTransaction(pool, async (client) => {
    for (const statement of statements) await client.query(statement)
    const query: RunQuery = (text, values) => ask(client, text, values)
    // Without the right to grant, PostgreSQL may warn instead of failing.
    const lacking = [...(await listLacking(query, schema, role)), ...(await listLackingOnLists(query, role, lists))]
    if (lacking.length > 0) {
      throw new RefusedError(
        `${role} still lacks ${lacking.join(', ')}: run this as the owner of the schema and of your tables`
      )
    }
  })
}
