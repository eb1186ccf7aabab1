import type { RenameOptions, WebhookStore } from '../../ports/index.js'
import { type Call, runInTransaction } from '../handles/in-transaction.js'
import type { Session } from '../session.js'

interface Secrets {
  id: number
  secret: string
  previous: string | null
}

/** Renames and removes tenants in PostgreSQL; `schema` is quoted. */
export function createTenants (session: Session, schema: string): Pick<WebhookStore, 'renameTenant' | 'removeTenant'> {
  async function rename (call: Call, from: string, to: string, reseal: RenameOptions['reseal']): Promise<number | null> {
    const locked = JSON.parse(await call(`${schema}.lock_tenant_v1($1, $2)`, [from, to])) as Secrets[] | null
    if (locked === null) return null
    const secrets = locked.map(({ id, secret, previous }) => ({ id, secret: reseal(secret, id), previous: previous && reseal(previous, id) }))
    return Number(await call(`${schema}.rename_tenant_v1($1, $2, $3)`, [from, to, JSON.stringify(secrets)]))
  }

  return {
    renameTenant: (from, to, { reseal, transaction }) =>
      runInTransaction(session, 'rename tenant', transaction, (call) => rename(call, from, to, reseal)),

    removeTenant: (tenantSlug, { limit, transaction }) => runInTransaction(session, 'remove tenant', transaction, async (call) =>
      Number(await call(`${schema}.remove_tenant_v1($1, $2)`, [tenantSlug, limit])))
  }
}
