import type { RenameOptions, WebhookStore } from '../../ports/index.js'
import { callInTransaction } from '../handles/transaction.js'
import type { Session } from '../session.js'

/** Calls one of our SQL functions, with `$n` for the values, and returns its result as text, which is never empty. */
type Call = (call: string, values: unknown[]) => Promise<string>

interface Secrets {
  id: number
  secret: string
  previous: string | null
}

/** Renames and removes tenants in PostgreSQL; `schema` is quoted. */
export function createTenants (session: Session, schema: string): Pick<WebhookStore, 'renameTenant' | 'removeTenant'> {
  function inTransaction<Result> (operation: string, transaction: unknown, work: (call: Call) => Promise<Result>): Promise<Result> {
    if (transaction !== undefined) return work((call, values) => callInTransaction(transaction, call, values))
    return session.transaction(operation, (query) => work(async (call, values) => {
      const [row] = await query<{ result: string }>(`select ${call}::text as result`, values)
      return String(row?.result)
    }))
  }

  async function rename (call: Call, from: string, to: string, reseal: RenameOptions['reseal']): Promise<number | null> {
    const locked = JSON.parse(await call(`${schema}.lock_tenant_v1($1, $2)`, [from, to])) as Secrets[] | null
    if (locked === null) return null
    const secrets = locked.map(({ id, secret, previous }) => ({ id, secret: reseal(secret, id), previous: previous && reseal(previous, id) }))
    return Number(await call(`${schema}.rename_tenant_v1($1, $2, $3)`, [from, to, JSON.stringify(secrets)]))
  }

  return {
    renameTenant: (from, to, { reseal, transaction }) =>
      inTransaction('rename tenant', transaction, (call) => rename(call, from, to, reseal)),

    removeTenant: (tenantSlug, { limit, transaction }) => inTransaction('remove tenant', transaction, async (call) =>
      Number(await call(`${schema}.remove_tenant_v1($1, $2)`, [tenantSlug, limit])))
  }
}
