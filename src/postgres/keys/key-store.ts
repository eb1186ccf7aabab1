import type { KeySortField, KeyStore, ManagedKey } from '../../ports/index.js'
import { tenantResting } from '../../shared/tenants.js'
import type { RunQuery, Session } from '../session.js'
import { moment, orderBy, toIso } from '../sql.js'
import { createSeen, keepSeen } from '../upgrade/version.js'
import { toJson } from './stored-key.js'

const sortColumns: Record<KeySortField, string> = { id: 'k.id', created_at: 'k.created_at' }

const columns = `json_build_object(
  'id', k.id, 'name', k.name, 'scopes', k.scopes, 'allowed_ips', k.allowed_ips,
  'candidate_fields', k.candidate_fields, 'job_fields', k.job_fields, 'start', k.start,
  'created_at', ${toIso('k.created_at')}, 'created_by', k.created_by,
  'expires_at', ${toIso('least(k.expires_at, k.replaced_at)')}, 'replaced', k.replaced_at is not null,
  'last_used_at', ${toIso('k.last_used_at')}, 'revoked_at', ${toIso('k.revoked_at')}
)::text as key`

interface Row {
  key: string
}

/** Creates the store of the keys that customers manage. `schema` is quoted. */
export function createKeyStore (plain: Session, schema: string, prefix: string): KeyStore {
  const table = `${schema}.api_keys k`
  // A process may have keys without a storage.
  const session = keepSeen(plain, createSeen(plain, schema))

  async function findBy (query: RunQuery, tenant: string, id: string): Promise<ManagedKey | null> {
    const [row] = await query<Row>(`select ${columns} from ${table} where k.tenant = $1 and k.id = $2`, [tenant, id])
    return row === undefined ? null : JSON.parse(row.key)
  }

  async function call (query: RunQuery, name: string, values: unknown[]): Promise<string> {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ')
    const [row] = await query<{ result: string }>(`select ${schema}.${name}(${parameters})::text as result`, values)
    return String(row?.result)
  }

  return {
    prefix,

    async list (tenant, { sort, offset, limit }) {
      const rows = await session.query<Row>('list keys',
        `select ${columns} from ${table} where k.tenant = $1 ${orderBy(sort, sortColumns)} limit $2 offset $3`,
        [tenant, limit, offset])
      return rows.map(({ key }) => JSON.parse(key))
    },

    async count (tenant) {
      const [row] = await session.query<{ total: string }>('count keys',
        `select count(*)::text as total from ${table} where k.tenant = $1`, [tenant])
      return Number(row?.total)
    },

    find: (tenant, id) => session.transaction('find key', (query) => findBy(query, tenant, id)),

    create: (tenant, key, maxKeys) => session.transaction('create key', async (query) => {
      const end = `${moment} + $1::integer * interval '1 day'`
      const [row] = await query<{ end: string }>(`select ${toIso(`(${end})`)} as end`, [key.expiresInDays])
      const result = await call(query, 'issue_key_v1', [
        key.id, key.digest, key.start, tenant, key.tenantSlug, JSON.stringify(key.scopes), toJson(key.allowedIps),
        toJson(key.candidateFields), toJson(key.jobFields), key.name, key.createdBy, row?.end, String(maxKeys)
      ])
      if (result === 'full') return null
      if (result !== 'none') throw tenantResting(tenant, result)
      return findBy(query, tenant, key.id)
    }),

    rotate: (tenant, oldId, { id, digest, start, createdBy }, overlapSeconds) =>
      session.transaction('rotate key', async (query) => {
        const values = [tenant, oldId, id, digest, start, String(overlapSeconds), createdBy]
        return await call(query, 'rotate_key_v1', values) === 'true' ? findBy(query, tenant, id) : null
      }),

    revoke: (tenant, id) => session.transaction('revoke key', async (query) => {
      const isRevoked = await call(query, 'revoke_key_v1', [tenant, id]) === 'true'
      return isRevoked || await findBy(query, tenant, id) !== null
    })
  }
}
