import type { RouteOptions, onSendHookHandler } from 'fastify'
import { expect } from '../shared/expect.js'
import { describeDeprecation, findDeprecationFault, readDeprecation } from '../shared/deprecation.js'

/** Announces the deprecation that a route of the host declares: in its document, and in the headers of every answer. */
export function announceDeprecation (route: RouteOptions, name: string): void {
  const deprecated = route.config?.deprecated
  if (deprecated === undefined) return
  const fault = findDeprecationFault(deprecated)
  expect(fault === null, 'routes', `config.deprecated${fault?.path} of ${name} to be ${fault?.expected}`, fault?.value)
  const notice = readDeprecation(deprecated)
  const { description, ...schema } = route.schema as { description?: string }
  const parts = [describeDeprecation(notice), description].filter((part) => part !== undefined)
  route.schema = { ...schema, deprecated: true, description: parts.join('\n\n') } as NonNullable<RouteOptions['schema']>
  const headers = {
    // RFC 9745 and RFC 8594.
    deprecation: `@${Math.floor(Date.parse(notice.since) / 1000)}`,
    ...(notice.sunset === null ? {} : { sunset: new Date(notice.sunset).toUTCString() })
  }
  const link = notice.link === null ? null : `<${notice.link}>; rel="deprecation"; type="text/html"`
  // A list has links of its own by then.
  const announce: onSendHookHandler<unknown> = (_request, reply, _payload, done) => {
    reply.headers(headers)
    if (link !== null) reply.header('link', [reply.getHeader('link'), link].filter(Boolean).join(', '))
    done()
  }
  route.onSend = [announce, ...[route.onSend ?? []].flat()] as onSendHookHandler<unknown>[]
}
