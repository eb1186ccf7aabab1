import { readFile } from 'node:fs/promises'
import { postgresStorage } from '../postgres/index.js'
import { createPatientSession } from '../postgres/session.js'
import { quoteName } from '../postgres/sql.js'
import { listTenantIds, moveToId } from '../postgres/tenant-ids.js'
import { parseTenantId, tenantIdRule } from '../shared/tenants.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { createKeyBox } from '../webhooks/secrets.js'
import { createReseal } from '../webhooks/tenants.js'
import { type Command, RefusedError, UsageError } from './command.js'
import { readSecretKeys, secretKeysOption } from './secrets.js'
import { confirm, formatCount, formatTable, showResult, withProgress } from './terminal.js'

const expected = 'a JSON object from each slug to the id, such as {"acme": 41}'
const maxShown = 20

export const useIds: Command = {
  args: ['FILE'],
  options: {
    'dry-run': { value: null, about: 'shows what would move, without changing anything' },
    'secret-keys': secretKeysOption
  },

  async run (context) {
    const { args: [path = ''], flags, io, pool } = context
    const ids = await readIds(path)
    const box = createKeyBox(await readSecretKeys(context))
    const schema = quoteName(context.schema)
    const session = createPatientSession(pool)
    const { webhooks } = postgresStorage(pool, { schema: context.schema })
    const moves = planMoves(ids, await listTenantIds(session, schema))
    const table = formatTable([['slug', 'id'], ...moves.map(({ slug, id }) => [slug, id])])
    if (moves.length === 0 || flags.has('dry-run')) {
      showResult(context, { moved: [], planned: moves }, moves.length === 0 ? ['nothing to do'] : table)
      return 0
    }
    const effect = 'Servers need the option tenantId from then on, and the syncs of these tenants begin again.'
    await confirm(context, `Moves the data of ${formatCount(moves.length, 'tenant')} from slugs to ids. ${effect}`)
    await withProgress(io, 'moving', async (report) => {
      for (const [index, { slug, id }] of moves.entries()) {
        await moveToId({ session, schema, webhooks }, { slug, id }, createReseal(box, slug, id))
        await context.audit.write({ tenantSlug: slug, resource: { kind: 'tenant', id } })
        report(`${index + 1} of ${moves.length}`)
      }
    })
    context.audit.rowCount = moves.length
    showResult(context, { moved: moves, planned: moves }, [`moved the data of ${formatCount(moves.length, 'tenant')}`])
    return 0
  }
}

interface Move {
  slug: string
  id: string
}

/** Returns the tenants whose data is stored by slug. Throws if the owner of some data is not clear. */
function planMoves (ids: ReadonlyMap<string, string>, stored: readonly string[]): Move[] {
  const known = new Set(ids.values())
  const unknown = stored.filter((tenant) => !ids.has(tenant) && !known.has(tenant))
  if (unknown.length > 0) {
    const rest = unknown.length > maxShown ? ` and ${unknown.length - maxShown} more` : ''
    throw new RefusedError(
      `FILE: no id for the tenants ${unknown.slice(0, maxShown).join(', ')}${rest}, which have data: ` +
        'add them, or delete them with tenants remove'
    )
  }
  return stored.flatMap((slug) => {
    const id = ids.get(slug)
    return id === undefined || id === slug ? [] : [{ slug, id }]
  })
}

async function readIds (path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`FILE: the file cannot be read (${error.code})`)
  })
  const ids = new Map<string, string>()
  const slugs = new Map<string, string>()
  for (const [slug, value] of Object.entries(parse(text))) {
    if (!isTenantSlug(slug)) throw new UsageError(`FILE: expected ${tenantSlugRule}, got ${JSON.stringify(slug)}`)
    const id = parseTenantId(value)
    if (id === null) throw new UsageError(`FILE: expected the id of ${slug} to be ${tenantIdRule}`)
    const other = slugs.get(id)
    if (other !== undefined) throw new UsageError(`FILE: ${other} and ${slug} have the same id ${id}`)
    ids.set(slug, id)
    slugs.set(id, slug)
  }
  for (const [slug, id] of ids) {
    // Nobody could see whether the data of the id has already moved.
    if (slug !== id && ids.has(id)) {
      throw new UsageError(
        `FILE: the id ${id} of ${slug} is the slug of another tenant: let tenantId return ids with a prefix`
      )
    }
  }
  return ids
}

function parse (text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  throw new UsageError(`FILE: expected ${expected}`)
}
