import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Components } from './components.js'
import { describeDefaults } from './defaults.js'
import { exampleOf } from './example.js'
import type { Operation, Parameter } from './read-operation.js'

/** Formats an operation for the OpenAPI document. */
export function formatOperation ({ about, security, parameters, body, responses }: Operation, components: Components): object {
  return {
    ...about,
    security: security.map((scopes) => ({ apiKey: scopes })),
    parameters: parameters.map(formatParameter),
    ...(body === undefined || isEmpty(body) ? {} : { requestBody: formatBody(body, components) }),
    responses: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, formatResponse(answer, components)]))
  }
}

/** Optional parameters keep examples in their schema: reference pages would send an `example` of the parameter. */
function formatParameter ({ schema, ...parameter }: Parameter): object {
  const { description, ...rest } = schema
  return { ...parameter, ...(parameter.required ? formatValue(schema) : { description, schema: rest }) }
}

/** Formats the common part of parameters and headers. */
function formatValue (value: TSchema): object {
  const { description, examples, ...schema } = value
  return { description, schema, example: exampleOf(value) }
}

function isEmpty ({ properties }: TObject): boolean {
  return Object.keys(properties).length === 0
}

/** A body is optional if an empty object is valid. */
function formatBody (schema: TObject, components: Components): object {
  const described = describeDefaults(schema, { isFilledIn: true })
  const required = (described.required ?? []).length > 0 || (schema.minProperties ?? 0) > 0
  return { required, content: { 'application/json': { schema: components.schema(described), example: exampleOf(schema) } } }
}

/** The request id, a header of every answer. */
export const requestIdHeader = Type.String({
  description: 'The id of this request. Quote it when you ask for help',
  examples: ['req_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e']
})

/** A response with a title, such as an error, becomes a shared component. */
function formatResponse ({ description = '', headers = {}, ...schema }: TSchema, components: Components): object {
  const answer = { description, headers: formatHeaders({ 'x-request-id': requestIdHeader, ...headers }) }
  if (schema.type === 'null') return answer
  const response = { ...answer, content: { 'application/json': { schema: components.schema(schema), example: exampleOf(schema) } } }
  return schema.title === undefined ? response : components.response(schema.title, response)
}

function formatHeaders (headers: TProperties): object {
  return Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, formatValue(schema)]))
}
