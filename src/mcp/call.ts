import { type Call, encodePart } from './calls.js'
import { type ArgumentPlan, grouped } from './arguments.js'

/** A fault in the arguments of a tool. */
export class ArgumentFault extends Error {}

/**
 * Returns the call of an operation for the arguments of its tool. Throws an `ArgumentFault` for those that no request
 * can have: the route checks all others.
 */
export function formatCall (plan: ArgumentPlan, given: object): Call {
  const { method, url, inPath, inQuery, inBody, hasBody } = plan
  const parts = new Map(inPath.map((name) => [name, readPart(given, name)]))
  const query: string[] = []
  const body: Record<string, unknown> = {}
  for (const [name, value] of flatten(plan, given)) {
    if (inQuery.includes(name)) query.push(...formatParameter(name, value))
    else if (hasBody && (inBody ?? ['body']).includes(name)) body[name] = value
    else if (!inPath.includes(name)) throw new ArgumentFault(`Unknown argument. This tool takes ${listNames(plan)}.`)
  }
  const path = plan.path.replace(/:(\w+)/g, (_, name) => String(parts.get(name)))
  return {
    method,
    url,
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    body: hasBody ? JSON.stringify(inBody === null ? body.body ?? null : body) : null
  }
}

/** Turns the member `q` of the argument `filter` into `filter[q]`. */
function flatten ({ inQuery }: ArgumentPlan, given: object): Array<[string, unknown]> {
  const groups = new Set(inQuery.map((name) => grouped.exec(name)?.[1]))
  return Object.entries(given).flatMap(([name, value]) => {
    if (!groups.has(name)) return [[name, value]]
    if (value === null) return []
    if (typeof value !== 'object') throw new ArgumentFault(`${name} must be an object.`)
    return Object.entries(value).map(([member, value]): [string, unknown] => [`${name}[${member}]`, value])
  })
}

function readPart (given: object, name: string): string {
  const part = encodePart(formatScalar(Reflect.get(given, name)) ?? '')
  if (part === null) throw new ArgumentFault(`${name} is missing or not valid.`)
  return part
}

/** Models send `null` for what they leave out. */
function formatParameter (name: string, value: unknown): string[] {
  if (value === null) return []
  const text = formatScalar(value)
  if (text === null) throw new ArgumentFault(`${name} must be text, a number or a boolean.`)
  return [`${encodeURIComponent(name)}=${encodeURIComponent(text)}`]
}

function formatScalar (value: unknown): string | null {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null
}

function listNames ({ inputSchema: { properties } }: ArgumentPlan): string {
  return Object.keys(properties).join(', ') || 'none'
}
