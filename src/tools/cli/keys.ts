import { inTransaction } from '../../storages/postgres/pool.js'
import {
  type ApiKeys, apiKeys, type ApiKeysOptions, type ImportedApiKey, type IssuedApiKey, type NewApiKey, type PgClient,
  type StoredApiKey
} from '../../storages/postgres/index.js'
import { countDependents, type Dependents } from '../../storages/postgres/keys/key-lookup.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { plainText, readInput, unread } from '../../core/shared/read-options.js'
import { type Command, type Context, type Option, CommandError } from './command.js'
import { importEntry } from './database.js'
import { readSlug, readTenant, tenantOption } from './find.js'
import { outOption, readJsonArray, withSecretOutput } from './secrets.js'
import { changeEach, confirm, formatCount, formatRecord, formatRecords, showResult } from './terminal.js'

const prefixOption: Option = { value: 'PREFIX', about: 'the prefix of your keys; the default is rk' }

function openKeys ({ flags, pool, schema }: Context, names: Pick<ApiKeysOptions, 'tenantSlug'> = {}): ApiKeys {
  const prefix = flags.text('prefix')
  return apiKeys(pool, { schema, ...names, ...omitUndefined({ prefix, ownScopes: flags.optionalList('own-scopes') }) })
}

function openKeysOfTenant (context: Context) {
  const keys = openKeys(context)
  return { keys, tenant: { tenantId: readTenant('--tenant', context.flags.required('tenant')) } }
}

export const issue: Command = {
  options: {
    tenant: tenantOption,
    'tenant-slug': { value: 'SLUG', about: 'the slug of the tenant, if its id differs; the default is the id' },
    scopes: { value: 'A,B', about: 'for example candidates:read,jobs:read', isRequired: true },
    'own-scopes': { value: 'A,B', about: 'the scopes of your own routes, which --scopes can contain too' },
    'allowed-ips': {
      value: 'A,B',
      about: 'networks that the key can be used from, such as 203.0.113.0/24; the default is any address'
    },
    'candidate-fields': {
      value: 'A,B',
      about: 'the candidate fields that the key can read besides id; the default is all'
    },
    'job-fields': { value: 'A,B', about: 'the job fields that the key can read besides id; the default is all' },
    name: { value: 'NAME', about: 'what the key is for' },
    'expires-at': { value: 'DATE', about: 'when the key expires, such as 2030-01-01T00:00:00Z; the default is never' },
    'created-by': { value: 'NAME', about: 'who issues the key' },
    prefix: prefixOption,
    out: outOption
  },

  async run (context) {
    const { flags } = context
    const tenantId = readTenant('--tenant', flags.required('tenant'))
    const slug = readSlug('--tenant-slug', flags.text('tenant-slug') ?? tenantId)
    const keys = openKeys(context, { tenantSlug: () => slug })
    const input: NewApiKey = {
      tenantId,
      scopes: flags.list('scopes'),
      ...omitUndefined({
        name: flags.text('name'),
        expiresAt: flags.text('expires-at'),
        createdBy: flags.text('created-by'),
        allowedIps: flags.optionalList('allowed-ips'),
        candidateFields: flags.optionalList('candidate-fields'),
        jobFields: flags.optionalList('job-fields')
      })
    }
    context.audit.tenantSlug = slug
    const limits = describeLimits(input)
    const change = `Issues a key for the tenant ${slug} with the scopes ${input.scopes.join(', ')}` +
      (limits === '' ? '.' : `, limited to ${limits}.`)
    return createKey(context, change, (transaction) => keys.issue(input, { transaction }))
  }
}

const entryReaders = {
  tenant: plainText(100),
  tenant_id: unread,
  key: unread,
  sha256: unread,
  scopes: unread,
  name: unread,
  expires_at: unread,
  allowed_ips: unread,
  candidate_fields: unread,
  job_fields: unread
}

export const importKeys: Command = {
  args: ['FILE'],
  options: {
    'own-scopes': { value: 'A,B', about: 'the scopes of your own routes, which the keys can have too' },
    prefix: prefixOption
  },

  async run (context) {
    const entries = await readJsonArray(
      context.args[0] ?? '', 'a JSON array of keys, each with tenant, key or sha256, and scopes')
    const given = await Promise.all(entries.map((entry, index) =>
      importEntry(`key ${index + 1}`, () => readInput(entry, entryReaders))))
    await confirm(context, `Imports ${formatCount(entries.length, 'key')} of ` +
      `${formatCount(new Set(given.map(({ tenant }) => tenant)).size, 'tenant')}. Only their digests are stored.`)
    const rows: Array<{ tenant: string, id: string }> = []
    await changeEach(context, 'importing', given, async ({ tenant, tenant_id: tenantId = tenant, ...entry }, index) => {
      const { expires_at: expiresAt, allowed_ips: allowedIps, ...others } = entry
      const { candidate_fields: candidateFields, job_fields: jobFields, ...fields } = others
      const input = { ...fields, tenantId, expiresAt, allowedIps, candidateFields, jobFields }
      const keys = openKeys(context, { tenantSlug: () => tenant })
      const { id } = await importEntry(`key ${index + 1}`, () => keys.import(omitUndefined(input) as ImportedApiKey))
      rows.push({ tenant, id })
      return { tenantSlug: tenant, resource: { kind: 'key', id } }
    })
    showResult(context, rows, formatRecords(rows, { tenant: 'tenant', id: 'id' }, 'none'))
  }
}

export const list: Command = {
  options: { tenant: tenantOption },

  async run (context) {
    const { keys, tenant } = openKeysOfTenant(context)
    const found = await keys.list(tenant)
    const now = context.io.now()
    const rows = found.map((key) => ({ ...key, state: stateOf(key, now), limits: describeLimits(key) || null }))
    showResult(context, found, formatRecords(rows, {
      id: 'id',
      start: 'start',
      state: 'state',
      name: 'name',
      scopes: 'scopes',
      'last used': 'lastUsedAt',
      expires: 'expiresAt',
      limits: 'limits'
    }, 'no keys'))
  }
}

/** Empty without limits. */
function describeLimits (key: Partial<Pick<NewApiKey, 'allowedIps' | 'candidateFields' | 'jobFields'>>): string {
  const limits = { addresses: key.allowedIps, 'candidate fields': key.candidateFields, 'job fields': key.jobFields }
  return Object.entries(limits).flatMap(([name, values]) => values ? [`${name} ${values.join(', ')}`] : []).join('; ')
}

function stateOf ({ revokedAt, expiresAt }: StoredApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}

export const rotate: Command = {
  args: ['ID'],
  options: {
    tenant: tenantOption,
    'overlap-seconds': { value: 'SECONDS', about: 'how long the old key stays valid; the default is 86400, a day' },
    prefix: {
      ...prefixOption,
      about: 'the prefix of the new key, because the old prefix is not stored; the default is rk'
    },
    out: outOption
  },

  async run (context) {
    const { flags } = context
    const { keys, tenant } = openKeysOfTenant(context)
    const overlap = omitUndefined({ overlapSeconds: flags.integer('overlap-seconds') })
    const { id, tenantSlug } = await findKey(context, keys, tenant)
    const { overlapSeconds = 86_400 } = overlap
    const change = `Replaces the key ${id} of the tenant ${tenantSlug} with a key that begins with ` +
      `${flags.text('prefix') ?? 'rk'}_. The old key expires in ${overlapSeconds} seconds.`
    return createKey(context, change, (transaction) => keys.rotate(tenant, id, overlap, { transaction }))
  }
}

export const revoke: Command = {
  args: ['ID'],
  options: {
    tenant: tenantOption,
    children: {
      value: null, about: 'also revokes the keys that it created, the keys that replace them, and those that they created'
    },
    'disable-webhooks': {
      value: null, about: 'also sets the webhooks that it created to inactive; with --children, those of these keys too'
    }
  },

  async run (context) {
    const { flags, pool, schema } = context
    const { keys, tenant } = openKeysOfTenant(context)
    const key = await findKey(context, keys, tenant)
    const { id } = key
    const children = flags.has('children')
    const isDisabling = flags.has('disable-webhooks')
    if (key.revokedAt !== null && !children && !isDisabling) {
      throw new CommandError(`${id}: the key was already revoked at ${key.revokedAt}`)
    }
    const name = key.name === null ? '(without a name)' : JSON.stringify(key.name)
    const dependents = await countDependents(pool, quoteName(schema), key.tenantId, id)
    await confirm(context, `Revokes the key ${id} ${name} of the tenant ${key.tenantSlug} immediately.` +
      describeDependents(dependents, { children, isDisabling }))
    await keys.revoke(tenant, id, { children, webhooks: isDisabling ? 'disable' : 'keep' })
    showResult(context, await keys.find(tenant, id), [`revoked ${id}`])
  }
}

/** Says what happens to what a key created; empty if it created nothing. */
function describeDependents (
  { keys, webhooks: own, webhooksOfKeys }: Dependents, { children, isDisabling }: Record<'children' | 'isDisabling', boolean>
): string {
  const webhooks = own + (children ? webhooksOfKeys : 0)
  const endOfKeys = children ? 'will be revoked too' : 'will stay valid, unless you add --children'
  const endOfWebhooks = isDisabling ? 'will become inactive' : 'will stay as they are, unless you add --disable-webhooks'
  const ofKeys = ` The ${formatCount(keys, 'valid key')} that it created ${endOfKeys}.`
  const ofWebhooks = ` The ${formatCount(webhooks, 'webhook')} of ${children ? 'these keys' : 'the key'} ${endOfWebhooks}.`
  return (keys > 0 ? ofKeys : '') + (webhooks > 0 ? ofWebhooks : '')
}

async function findKey (
  { args: [id = ''], audit }: Context, keys: ApiKeys, tenant: { tenantId: string }
): Promise<StoredApiKey> {
  const key = await keys.find(tenant, id)
  if (key === null) throw new CommandError(`${id}: the tenant ${tenant.tenantId} has no such key`)
  Object.assign(audit, { tenantSlug: key.tenantSlug, resource: { kind: 'key', id } })
  return key
}

/** Asks for confirmation, creates a key and shows it once. Stores nothing if the key cannot be written to its file. */
async function createKey (
  context: Context, change: string, create: (transaction: PgClient) => Promise<IssuedApiKey>
): Promise<void> {
  const created = await withSecretOutput(context, async (keep) => {
    await confirm(context, change)
    return inTransaction(context.pool, async (transaction) => {
      const { key, ...stored } = await create(transaction)
      await keep(key)
      return stored
    })
  })
  context.audit.resource = { kind: 'key', id: created.id }
  showResult(context, created, formatRecord(created))
}
