import { RecruitingApiError } from '../errors.js'
import { findNearestName, findUnknownName, show } from './read-options.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from './text.js'

/** A tenant of a call, by its slug. */
export interface TenantBySlug {
  /**
   * The tenant: its slug of 1 to 100 characters without control characters, which the option `tenantId` resolves. Never
   * together with `tenantId`.
   * @default this or `tenantId` is required
   */
  tenantSlug: string
}

/** A tenant of a call, by its id. */
export interface TenantById {
  /**
   * The tenant, by the id that the option `tenantId` returns for it: an integer, or 1 to 200 characters. It is not
   * looked up, so the call works while the slug changes hands, and in the transaction that creates the tenant.
   * Without the option it is the slug.
   * @default this or `tenantSlug` is required
   */
  tenantId: string | number
}

/** The tenant of a call by code: by its slug or its id, never both. */
export type TenantReference = (TenantBySlug & { tenantId?: undefined }) | (TenantById & { tenantSlug?: undefined })

/** The first argument of calls about a tenant. Text is short for `{ tenantSlug }`. */
export type TenantArgument = string | TenantReference

/** A checked reference: one of them is `null`. The id is text. */
export type CheckedReference = { slug: string, id: null } | { slug: null, id: string }

/** Calls throw `invalid_input`; `emit` and `erase` throw `invalid_event` for a malformed slug or id. */
type FaultCode = 'invalid_input' | 'invalid_event'

/** The rule for the ids of tenants, for messages. */
export const tenantIdRule = 'an integer, or text of 1 to 200 characters without control characters'

/** The names of both fields, for checks of unknown names. */
export const tenantNames = ['tenantSlug', 'tenantId'] as const

/** Returns the id of a tenant as text; `null` if it cannot be one. */
export function parseTenantId (value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value)
  return isPlainText(value, 200) ? value : null
}

/** Reads `tenantSlug` or `tenantId` of an argument with more fields. Throws `invalid_input` if it has both. */
export function readTenant (fields: object, code: FaultCode = 'invalid_input'): CheckedReference {
  const [slug, id]: unknown[] = tenantNames.map((name) => Reflect.get(fields, name))
  if (id === undefined) return { slug: readSlug(slug, code), id: null }
  if (slug !== undefined) refuse('tenantId', 'none, because tenantSlug is given', id)
  return { slug: null, id: parseTenantId(id) ?? refuse('tenantId', tenantIdRule, id, code) }
}

/** Reads an argument that is only a tenant. Throws `invalid_input`. */
export function readTenantArgument (value: unknown): CheckedReference {
  if (typeof value !== 'object' || value === null) return readTenant({ tenantSlug: value })
  const unknown = findUnknownName(value, tenantNames)
  if (unknown !== undefined) refuse(unknown, `a known name such as ${findNearestName(unknown, tenantNames)}`, unknown)
  return readTenant(value)
}

/** Returns the slug of a reference, or its id as text, for logs and audits. */
export function showTenant (reference: TenantArgument): string {
  return typeof reference === 'string' ? reference : String(reference.tenantSlug ?? reference.tenantId)
}

function readSlug (value: unknown, code: FaultCode): string {
  return isTenantSlug(value) ? value : refuse('tenantSlug', tenantSlugRule, value, code)
}

function refuse (field: string, expected: string, value: unknown, code: FaultCode = 'invalid_input'): never {
  throw new RecruitingApiError(code, `${field}: expected ${expected}, got ${show(value)}`, field)
}
