import { readField } from '../shared/fields.js'
import { assertOption, integer, matching, orNull } from '../shared/read-options.js'
import { isStorableText } from '../shared/text.js'
import type { PgPool } from './pool.js'

const maxNameBytes = 63

/** Reads the name of the schema. */
export function readSchema (schema = 'recruiting', path: string): string {
  const isName = typeof schema === 'string' && schema !== '' && Buffer.byteLength(schema) <= maxNameBytes &&
    isStorableText(schema) && !schema.startsWith('pg_')
  assertOption(isName, path, `a name of 1 to ${maxNameBytes} bytes that does not begin with pg_`, schema)
  return schema
}

/** Reads the time limit of queries. The default is short, so that a worker tries again within seconds. */
export const readQueryTimeout = integer(100, 120_000, 5000)

/** Reads the name of a table or view as in SQL; `null` if it is absent. */
export const readRelation = orNull(matching(
  (name) => name !== '' && isStorableText(name), 'the name of a table or view, such as public.api_candidates'
))

/** Methods of the clients of `pg` that no pool has. */
const clientMethods = ['release', 'escapeIdentifier']

/** Throws `invalid_option` unless the value has the methods of a pool. */
export function assertPool (pool: unknown): asserts pool is PgPool {
  const isClient = clientMethods.some((name) => typeof readField(pool, name) === 'function')
  assertOption(
    !isClient,
    'pool',
    'a pool such as new pg.Pool(), not a client, because calls need connections of their own',
    pool
  )
  for (const method of ['query', 'connect']) {
    const isMethod = typeof pool === 'object' && pool !== null && typeof Reflect.get(pool, method) === 'function'
    assertOption(isMethod, 'pool', `a pool with a method ${method}`, pool)
  }
}
