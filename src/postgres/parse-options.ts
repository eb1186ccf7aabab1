import { RecruitingApiError } from '../errors.js'
import type { PgPool } from './pool.js'

/** How long the database may take to answer. A worker that waits in vain tries again within seconds. */
export const defaultQueryTimeoutMs = 5000

/** Throws `invalid_option` for what has not the methods of a pool. */
export function parsePool (pool: unknown): asserts pool is PgPool {
  for (const method of ['query', 'connect']) {
    const isMethod = typeof pool === 'object' && pool !== null && typeof Reflect.get(pool, method) === 'function'
    if (!isMethod) refuse('pool', `expected a pool with a method ${method}`)
  }
}

/** A length of time in milliseconds. Throws `invalid_option`. */
export function parseMilliseconds (option: string, value: unknown, least: number, most: number): number {
  const isInRange = typeof value === 'number' && value >= least && value <= most
  return isInRange ? value : refuse(option, `expected ${least} to ${most} milliseconds, got ${String(value)}`)
}

/** The name of a relation as in SQL; without one, that of the option in the schema. Throws `invalid_option`. */
export function parseRelation (option: string, value: unknown, quotedSchema: string): string {
  if (value === undefined) return `${quotedSchema}.${option}`
  const isName = typeof value === 'string' && value !== '' && value.isWellFormed() && !value.includes('\0')
  return isName ? value : refuse(option, 'expected the name of a table or view, such as public.api_candidates')
}

/** Throws `invalid_option` that names the option. */
export function refuse (option: string, problem: string): never {
  throw new RecruitingApiError('invalid_option', `${option}: ${problem}`, option)
}
