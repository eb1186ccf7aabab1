import type {
  FastifyPluginAsync,
  FastifyTypeProvider,
  onSendHookHandler,
  RawServerDefault,
  RouteOptions
} from 'fastify'
import { describeSync } from '../api/sync.js'
import { describeDeprecation, findDeprecationFault, readDeprecation } from '../shared/deprecation.js'
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
interface EitherTypeBox extends FastifyTypeProvider {
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
  assertScopes(route)
  assertCapabilities(route)
  assertIdempotent(route)
  assertSuccess(route)
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

/** Throws for a route without scopes: probably a mistake, because every key of the tenant could use it. */
function assertScopes (route: RouteOptions): void {
  const scopes: unknown = route.config?.scopes
  const isValid = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')
  assertOption(isValid, 'routes', `config.scopes of ${nameOf(route)} to be an array of scopes`, scopes)
}

function assertCapabilities (route: RouteOptions): void {
  const given: unknown = route.config?.capabilities
  const isValid = given === undefined || (Array.isArray(given) && given.every((name) => capabilities.includes(name)))
  assertOption(
    isValid,
    'routes',
    `config.capabilities of ${nameOf(route)} to be an array of ${capabilities.join(', ')}`,
    given
  )
}

function assertIdempotent (route: RouteOptions): void {
  const { idempotent = false } = route.config ?? {}
  const isPost = [route.method].flat().every((method) => method === 'POST')
  const isValid = idempotent === false || (isPost && (idempotent === true || idempotent === 'sealed'))
  const expected = isPost ? "true, false or 'sealed'" : 'false, because only POST routes can be idempotent'
  assertOption(isValid, 'routes', `config.idempotent of ${nameOf(route)} to be ${expected}`, idempotent)
}

/** Throws for a route without a schema for success: it could return only 204 and errors. */
function assertSuccess (route: RouteOptions): void {
  const response: object = route.schema?.response ?? {}
  const isDeclared = Object.entries(response).some(
    ([status, schema]) => /^[23]\d\d$/.test(status) && isOneSchema(schema)
  )
  assertOption(
    isDeclared,
    'routes',
    `schema.response of ${nameOf(route)} to have a schema for a status such as 200`,
    route.schema?.response
  )
}

/** Throws for schemas per media type, because every response of the API is JSON. */
function isOneSchema (schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && !('content' in schema)
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
