import type { FastifyPluginAsync, FastifyTypeProvider, onSendHookHandler, RawServerDefault, RouteOptions } from 'fastify'
import { describeSync } from '../api/sync.js'
import { describeDeprecation, findDeprecationFault, readDeprecation } from '../shared/deprecation.js'
import { isObject } from '../shared/fields.js'
import { assertOption } from '../shared/read-options.js'
import type { StaticOf } from '../shared/typebox.js'
import { Conflict, errorResponses, SyncTokenExpired } from './schemas.js'
import { capabilities } from './sessions.js'
import { findOwnKind } from './sync.js'

/**
 * A Fastify plugin with the host's operations. Each route declares `config: { scopes }`, all of which a key must have,
 * and its response schemas. Its handler returns the response, or throws an `HttpError`. Schemas of either TypeBox type
 * requests and responses, and `request.recruiting` is the caller.
 */
export type RecruitingRoutes = PluginMethod['register']

/** Types requests and responses by schemas of either TypeBox. */
export interface EitherTypeBox extends FastifyTypeProvider {
  validator: StaticOf<this['schema']>
  serializer: StaticOf<this['schema']>
}

type EitherPlugin = FastifyPluginAsync<Record<never, never>, RawServerDefault, EitherTypeBox>

/** A method, because TypeScript compares its parameters less strictly: plugins can use another type provider. */
interface PluginMethod {
  register(
    app: Parameters<EitherPlugin>[0],
    options: Record<never, never>,
    done: (error?: Error) => void
  ): void | Promise<void>
}

/** Adds errors and the deprecation to a route of the option `routes`. Throws `invalid_option`. */
export function completeHostRoute (route: RouteOptions): RouteOptions {
  for (const [name, isValid, expected, value] of rulesOf(route)) {
    assertOption(isValid, 'routes', `${name} of ${nameOf(route)} to ${expected}`, value)
  }
  const kind = findOwnKind(route)
  const isChange = route.method !== 'GET' && route.method !== 'HEAD'
  return announceDeprecation({
    ...route,
    schema: {
      ...kind === null ? {} : { description: describeSync(kind) },
      ...route.schema,
      response: {
        ...errorResponses,
        ...isChange ? { 409: Conflict } : {},
        ...kind === null ? {} : { 410: SyncTokenExpired },
        ...route.schema?.response as object
      }
    }
  })
}

/** The parts of a route that must be valid, what is expected of each, and its value. */
function rulesOf (
  { config = {}, method, schema: { response } = {} }: RouteOptions
): Array<[name: string, isValid: boolean, expected: string, value: unknown]> {
  const { scopes, capabilities: needed = [], idempotent = false }: Record<string, unknown> = { ...config }
  const isPost = [method].flat().every((one) => one === 'POST')
  const idempotency = isPost ? "true, false or 'sealed'" : 'false, because only POST routes can be idempotent'
  const successes = Object.entries(Object(response)).filter(([status]) => /^[23]\d\d$/.test(status))
  return [
    // Without scopes, every key of the tenant could use it: probably a mistake.
    ['config.scopes', Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'),
      'be an array of scopes', scopes],
    ['config.capabilities', Array.isArray(needed) && needed.every((name) => capabilities.includes(name)),
      `be an array of ${capabilities.join(', ')}`, needed],
    ['config.idempotent', idempotent === false || (isPost && (idempotent === true || idempotent === 'sealed')),
      `be ${idempotency}`, idempotent],
    // Without one, it could return only 204 and errors. Schemas by media type do not count: every response is JSON.
    ['schema.response', successes.some(([, one]) => isObject(one) && !('content' in one)),
      'have a schema for a status such as 200', response]
  ]
}

/** Announces a route's deprecation in the document and in the headers of every response. */
function announceDeprecation (route: RouteOptions): RouteOptions {
  const deprecated = route.config?.deprecated
  if (deprecated === undefined) return route
  const fault = findDeprecationFault(deprecated)
  const expected = `config.deprecated${fault?.path} of ${nameOf(route)} to be ${fault?.expected}`
  assertOption(fault === null, 'routes', expected, fault?.value)
  const notice = readDeprecation(deprecated)
  const { description, ...schema } = route.schema as { description?: string }
  const parts = [describeDeprecation(notice), description].filter((part) => part !== undefined)
  const headers = {
    // RFC 9745 and RFC 8594.
    deprecation: `@${Math.floor(Date.parse(notice.since) / 1000)}`,
    ...(notice.sunset === null ? {} : { sunset: new Date(notice.sunset).toUTCString() })
  }
  const link = notice.link === null ? null : `<${notice.link}>; rel="deprecation"; type="text/html"`
  // Keeps the links of a list.
  const announce: onSendHookHandler<unknown> = (_request, reply, _payload, done) => {
    reply.headers(headers)
    if (link !== null) reply.header('link', [reply.getHeader('link'), link].filter(Boolean).join(', '))
    done()
  }
  return {
    ...route,
    schema: { ...schema, deprecated: true, description: parts.join('\n\n') } as NonNullable<RouteOptions['schema']>,
    onSend: [announce, ...[route.onSend ?? []].flat()] as onSendHookHandler<unknown>[]
  }
}

function nameOf ({ method, url }: RouteOptions): string {
  return `${[method].flat().join(', ')} ${url}`
}
