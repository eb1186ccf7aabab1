import type { FastifyInstance, RouteOptions } from 'fastify'
import type { OpenApiSettings } from '../settings.js'
import type { EventCatalogue } from '../../webhooks/events/catalogue.js'
import { Components } from './components.js'
import { formatEvent, signatureParameters } from './event.js'
import { formatOperation } from './operation.js'
import { isHidden, readOperation, readScopes, readTags } from './read-operation.js'

/** Collects the routes that are added to a scope from now on, without HEAD. */
export function collectRoutes (scope: FastifyInstance): RouteOptions[] {
  const routes: RouteOptions[] = []
  scope.addHook('onRoute', (route) => { if (route.method !== 'HEAD') routes.push(route) })
  return routes
}

/** Formats the OpenAPI 3.1 document of all routes that are not hidden, from the schemas that validate and serialize. */
export function formatDocument (all: readonly RouteOptions[], events: EventCatalogue, { info, servers }: OpenApiSettings): object {
  const routes = all.filter((route) => !isHidden(route))
  const components = new Components()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    const operation = formatOperation(readOperation(route), components)
    for (const method of [route.method].flat()) paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  const webhooks = Object.entries(events).map(([name, data]) => [name, { post: formatEvent(name, data, components) }])
  return {
    openapi: '3.1.0',
    info: { ...defaultInfo, ...info },
    servers,
    tags: listTags(routes),
    paths,
    webhooks: Object.fromEntries(webhooks),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: describeKeys(routes) } },
      parameters: signatureParameters,
      ...components.format()
    }
  }
}

const defaultInfo = {
  title: 'Recruiting API',
  version: 'v1',
  description: [
    'Read the candidates and jobs of one tenant, and manage webhooks that receive its events.',
    'Every path contains the tenant, and every request needs one of its API keys as a bearer token.',
    'Unknown parameters and body fields are refused. New fields, operations and events may be added, so ignore unknown ones.'
  ].join('\n\n'),
  contact: { name: 'The vendor of your applicant tracking system' }
}

const tagDescriptions: Record<string, string> = {
  candidates: 'The people in the applicant tracking system',
  jobs: 'The positions of the tenant, in any status',
  webhooks: 'Your endpoints that receive events, signed according to Standard Webhooks 1.0',
  deliveries: 'The notifications sent to a webhook',
  events: 'The notifications that your endpoints receive'
}

function listTags (routes: readonly RouteOptions[]): object[] {
  const names = new Set([...routes.flatMap(readTags), 'events'])
  return Array.from(names, (name) => ({ name, description: tagDescriptions[name] ?? name }))
}

function describeKeys (routes: readonly RouteOptions[]): string {
  const scopes = [...new Set(routes.flatMap(readScopes))].sort().map((scope) => `\`${scope}\``)
  return ['An API key of the tenant. Each operation lists the scopes that the key needs.', ...scopes].join('\n- ')
}
