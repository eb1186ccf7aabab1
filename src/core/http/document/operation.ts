import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifySchema, RouteOptions } from 'fastify'
import { mapValues } from '../../shared/fields.js'
import { exampleOf, Type } from '../../shared/typebox.js'

export function formatOperation (
  { about, security, parameters, body, responses }: Operation,
  components: Components
): object {
  return {
    ...about,
    security: security.map((scopes) => ({ apiKey: scopes })),
    parameters: parameters.map(formatParameter),
    ...(body === undefined || isEmpty(body) ? {} : { requestBody: formatBody(body, components) }),
    responses: mapValues(responses, (answer) => formatResponse(answer, components))
  }
}

/** Optional parameters keep examples in their schema: reference pages would send a parameter's `example`. */
function formatParameter ({ schema, ...parameter }: Parameter): object {
  const { description, ...rest } = schema
  if (schema.type === 'object' && parameter.in === 'query') {
    return { ...parameter, description, content: { 'application/json': { schema: splitTypes(rest) } } }
  }
  return { ...parameter, ...(parameter.required ? formatValue(schema) : { description, schema: splitTypes(rest) }) }
}

/** Formats the part that parameters and headers share. */
function formatValue (value: TSchema): object {
  const { description, examples, ...schema } = value
  return { description, schema: splitTypes(schema), example: exampleOf(value) }
}

/** A host's body schema can lack `properties`, for example if it is not an object. */
function isEmpty ({ properties }: TSchema): boolean {
  return properties !== undefined && Object.keys(properties).length === 0
}

/** A body is optional if an empty object is valid. */
function formatBody (schema: TObject, components: Components): object {
  const described = describeDefaults(schema, { isFilledIn: true })
  const required = (described.required ?? []).length > 0 || (schema.minProperties ?? 0) > 0
  return {
    required,
    content: { 'application/json': { schema: components.schema(described), example: exampleOf(schema) } }
  }
}

/** The request id, a header of every response. */
export const requestIdHeader = Type.String({
  description: 'The id of this request. Quote it when you ask for help',
  examples: ['req_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e']
})

/** Makes a response with a title, such as an error, a shared component. */
function formatResponse ({ description = '', headers = {}, ...schema }: TSchema, components: Components): object {
  const answer = { description, headers: mapValues({ 'x-request-id': requestIdHeader, ...headers }, formatValue) }
  if (schema.type === 'null') return answer
  const response = {
    ...answer,
    content: { 'application/json': { schema: components.schema(schema), example: exampleOf(schema) } }
  }
  return schema.title === undefined ? response : components.response(schema.title, response)
}

interface OperationSchema {
  hide?: boolean
  deprecated?: boolean
  operationId?: string | undefined
  tags?: readonly string[] | undefined
  summary?: string | undefined
  description?: string | undefined
  params?: TObject
  querystring?: TObject
  headers?: TObject
  body?: TObject
  response?: Record<string, TSchema>
}

/** A path parameter, as accepted by the router. */
const PathPart = Type.String({ minLength: 1, maxLength: 100 })
const TenantSlug = Type.String({
  ...PathPart,
  examples: ['acme'],
  description: 'The tenant that the API key belongs to'
})

/** An operation, as declared by its route. */
export interface Operation {
  about: Pick<OperationSchema, 'operationId' | 'tags' | 'summary' | 'description' | 'deprecated'>
  /** Alternatives, each with all scopes that a key needs. */
  security: ReadonlyArray<readonly string[]>
  parameters: Parameter[]
  body: TObject | undefined
  responses: Record<string, TSchema>
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: TSchema
}

export function readOperation ({ url, schema = {}, config = {} }: RouteOptions): Operation {
  const {
    params,
    querystring,
    headers,
    body,
    response = {},
    operationId,
    tags,
    summary,
    description,
    deprecated
  } = schema as OperationSchema
  return {
    about: {
      operationId,
      tags,
      summary,
      description: [description, describeScopes(config)].filter((part) => part !== undefined).join('\n\n'),
      ...(deprecated === true ? { deprecated } : {})
    },
    security: listAlternatives(config),
    parameters: [
      ...listPathParameters(url, params), ...listParameters('query', querystring), ...listParameters('header', headers)
    ],
    body,
    responses: response
  }
}

/** Only the tenant has a default description, because the parameters of host routes can mean anything. */
function listPathParameters (url: string, params: TObject | undefined): Parameter[] {
  return Array.from(url.matchAll(/:(\w+)/g), ([, name = '']) => {
    const schema = params?.properties[name] ?? PathPart
    return { name, in: 'path', required: true, schema: name === 'tenant_slug' ? { ...TenantSlug, ...schema } : schema }
  })
}

function listParameters (
  place: 'query' | 'header', { properties, required = [] }: TObject = Type.Object({})
): Parameter[] {
  return Object.entries(properties).map(([name, schema]) => {
    return { name, in: place, required: required.includes(name) && schema.default === undefined, schema }
  })
}

/** The schema of a hidden route. Hosts without `@fastify/swagger` have no type for `hide`. */
export const hidden: FastifySchema & { hide: true } = { hide: true }

/** Returns whether `schema: { hide: true }` hides a route from the document, as with `@fastify/swagger`. */
export function isHidden ({ schema = {} }: RouteOptions): boolean {
  return (schema as OperationSchema).hide === true
}

export function readScopes ({ config }: RouteOptions): readonly string[] {
  return [...config?.scopes ?? [], ...config?.anyScope ?? []]
}

export function readTags ({ schema = {} }: RouteOptions): readonly string[] {
  return (schema as OperationSchema).tags ?? []
}

function listAlternatives ({ scopes = [], anyScope }: FastifyContextConfig): ReadonlyArray<readonly string[]> {
  return anyScope?.map((scope) => [...scopes, scope]) ?? [scopes]
}

function describeScopes ({ scopes = [], anyScope = [] }: FastifyContextConfig): string {
  const names = [scopes.map(quote).join(' and '), anyScope.map(quote).join(' or ')].filter((part) => part !== '')
  return names.length === 0 ? 'Needs no scope.' : `Needs ${names.join(', and ')}.`
}

function quote (scope: string): string {
  return `\`${scope}\``
}

/** Returns a route's `operationId`, such as `listCandidates`; `null` without one, as for an unknown path. */
export function operationIdOf (schema: FastifySchema | undefined): string | null {
  return (schema as { operationId?: string } | undefined)?.operationId ?? null
}

type Json = Record<string, unknown>

const componentName = /^[A-Za-z0-9._-]+$/

/** Keywords whose values are not schemas. */
const values = new Set(['examples', 'default', 'const', 'enum'])

/** Keywords whose values are schemas by names, such as fields. */
const named = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** Keywords that say nothing about the type. */
const annotations = new Set(['title', 'description', 'examples', 'default', 'deprecated', 'readOnly', 'writeOnly'])

const numeric = ['integer', 'number']

/** The types that a keyword is for; all types without an entry. */
const typesOf: Record<string, readonly string[]> = Object.fromEntries([
  [['minLength', 'maxLength', 'pattern'], ['string']],
  [['format'], ['string', ...numeric]],
  [['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], numeric],
  [['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems'], ['array']],
  [[
    'properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames', 'minProperties',
    'maxProperties'
  ], ['object']]
].flatMap(([keywords = [], types = []]) => keywords.map((keyword) => [keyword, types])))

/** Replaces each array of types by `anyOf`, because some generators cannot read it. */
export function splitTypes (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(splitTypes)
  if (typeof schema !== 'object' || schema === null) return schema
  const split = mapValues({ ...schema }, (value: unknown, keyword) => {
    if (values.has(keyword)) return value
    return named.has(keyword) ? mapValues(Object(value), splitTypes) : splitTypes(value)
  })
  const { type, ...rest } = split
  if (!Array.isArray(type)) return split
  const pick = (isKept: (keyword: string) => boolean): Json =>
    Object.fromEntries(Object.entries(rest).filter(([keyword]) => isKept(keyword)))
  return {
    ...pick((keyword) => annotations.has(keyword)),
    anyOf: type.map((one: string) => {
      const { enum: choices, ...kept } = pick((keyword) => {
        return !annotations.has(keyword) && (typesOf[keyword]?.includes(one) ?? true)
      })
      const own = numeric.includes(one) ? 'number' : one
      const ofType = Array.isArray(choices) ? { enum: choices.filter((choice) => typeOf(choice) === own) } : {}
      return { type: one, ...kept, ...ofType }
    })
  }
}

function typeOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The components of a document: schemas and shared responses. */
export class Components {
  readonly #schemas: Record<string, Json> = {}
  readonly #responses: Record<string, Json> = {}

  /** Returns the schema for the document. Each part with a title becomes a component with that name. */
  schema (schema: TSchema): Json {
    return this.#visit(splitTypes(schema)) as Json
  }

  response (name: string, response: Json): Json {
    this.#responses[name] ??= response
    return { $ref: `#/components/responses/${name}` }
  }

  format (): Json {
    return { schemas: this.#schemas, responses: this.#responses }
  }

  #visit (value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#visit(item))
    if (typeof value !== 'object' || value === null) return value
    const { title, ...schema } = mapValues({ ...value }, (member: unknown, key) =>
      values.has(key) ? member : this.#visit(member))
    // A property can also be named title; its value is a schema.
    if (typeof title === 'string' && componentName.test(title)) return this.#hoist(title, schema)
    return title === undefined ? schema : { title, ...schema }
  }

  /** The first schema with a title becomes the component. A different schema with the same title stays inline. */
  #hoist (name: string, schema: Json): Json {
    const known = this.#schemas[name] ??= schema
    return known === schema || JSON.stringify(known) === JSON.stringify(schema)
      ? { $ref: `#/components/schemas/${name}` }
      : schema
  }
}

/** Whether absent fields get their `default`, as in request bodies. */
interface Reading {
  isFilledIn: boolean
}

/**
 * Moves each `default` into the description: generators such as openapi-typescript treat fields with a `default` as
 * always present. Fields that are filled in are not required.
 */
export function describeDefaults (schema: TSchema, reading: Reading): TSchema {
  const { default: usual, required, ...described } = schema
  for (const keyword of ['properties', 'patternProperties']) {
    const schemas: Record<string, TSchema> | undefined = schema[keyword]
    if (schemas !== undefined) described[keyword] = mapValues(schemas, (one) => describeDefaults(one, reading))
  }
  for (const keyword of ['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']) {
    if (schema[keyword] !== undefined) described[keyword] = describeWithin(schema[keyword], reading)
  }
  const sent = (required ?? []).filter(
    (name: string) => !reading.isFilledIn || schema.properties?.[name]?.default === undefined
  )
  return {
    ...described,
    ...(sent.length > 0 ? { required: sent } : {}),
    ...(usual === undefined ? {} : { description: describeDefault(schema.description, usual) })
  }
}

/** Accepts one schema, several, or the `false` of `additionalProperties`. */
function describeWithin (value: TSchema | TSchema[] | boolean, reading: Reading): unknown {
  if (Array.isArray(value)) return value.map((schema) => describeDefaults(schema, reading))
  return typeof value === 'boolean' ? value : describeDefaults(value, reading)
}

function describeDefault (description: string | undefined, value: unknown): string {
  const text = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\``
  return description === undefined ? text : `${description.replace(/\.$/, '')}. ${text}`
}
