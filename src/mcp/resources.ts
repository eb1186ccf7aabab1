import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType
} from '@modelcontextprotocol/server'
import type { CallAnswer } from './calls.js'
import { readField } from '../shared/fields.js'
import { guardText, guardValue } from './guard.js'
import { parse } from './result.js'

/** The jobs of a tenant, as resources. */
const pageSize = 100

const mimeType = 'application/json'

function addressOf (tenantSlug: string): string {
  return `recruiting://${encodeURIComponent(tenantSlug)}/jobs/`
}

export function listTemplates (tenantSlug: string): ResourceTemplateType[] {
  return [
    {
      uriTemplate: `${addressOf(tenantSlug)}{id}`,
      name: 'job',
      title: 'A job',
      description: 'A job by its id, as get_job returns it',
      mimeType
    }
  ]
}

/** Returns the arguments of `list_jobs` for a page; `null` if no page has this cursor. */
export function parseCursor (cursor = '1'): object | null {
  return /^[1-9]\d{0,8}$/.test(cursor) ? { page: cursor, per_page: pageSize } : null
}

/** Returns the arguments of `get_job` for a resource; `null` if it is not a job of the tenant. */
export function parseUri (uri: string, tenantSlug: string): object | null {
  const address = addressOf(tenantSlug)
  if (!uri.startsWith(address)) return null
  try {
    const id = decodeURIComponent(uri.slice(address.length))
    // No storage has other ids.
    return /^(?!.*\/)[\x21-\x7e]{1,64}$/.test(id) ? { id } : null
  } catch {
    return null
  }
}

export function formatPage ({ text }: CallAnswer, tenantSlug: string): ListResourcesResult {
  const payload = parse(text)
  const data = readField(payload, 'data')
  const page = Number(readField(readField(payload, 'meta'), 'page'))
  const pages = Number(readField(readField(payload, 'meta'), 'total_pages'))
  return {
    resources: [data].flat().map((job) => describeJob(job, tenantSlug)),
    ...(page < pages ? { nextCursor: String(page + 1) } : {})
  }
}

function describeJob (job: unknown, tenantSlug: string): Resource {
  const id = String(readField(job, 'id'))
  // A key may be limited to some fields.
  const texts = { title: readField(job, 'name'), description: readField(job, 'status') }
  const shown = Object.entries(texts).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return {
    uri: `${addressOf(tenantSlug)}${encodeURIComponent(id)}`,
    name: `job ${id}`,
    mimeType,
    ...Object.fromEntries(shown.map(([name, text]) => [name, guardText(text)]))
  }
}

export function formatResource (uri: string, { text }: CallAnswer): ReadResourceResult {
  return { contents: [{ uri, mimeType, text: JSON.stringify(guardValue(readField(parse(text), 'data'))) }] }
}
