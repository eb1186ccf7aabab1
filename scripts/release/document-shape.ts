import { type Direction, type Shape, addPart } from './breaks.js'

type Json = Record<string, unknown>

/** Human-readable texts, which programs do not use. */
const texts = new Set([
  'title',
  'summary',
  'description',
  'example',
  'examples',
  '$comment',
  'externalDocs',
  'deprecated'
])
/** Keywords of a schema that become separate parts. */
const nested = new Set([
  'properties',
  'required',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'type',
  'enum',
  '$ref',
  'additionalProperties'
])
const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']

/** Reads an OpenAPI document's operations and webhooks, with all schemas they use. */
export function readDocument (document: Json): Shape {
  const shape: Shape = new Map()
  const visited = new Set<string>()

  for (const [paths, sent, answered] of [['paths', 'given', 'read'], ['webhooks', 'read', 'given']] as const) {
    for (const [path, item] of entriesOf(document[paths])) {
      for (const method of methods.filter((name) => name in item)) {
        visitOperation(`${method.toUpperCase()} ${path}`, item[method] as Json, sent, answered)
      }
    }
  }
  return shape

  function visitOperation (path: string, operation: Json, sent: Direction, answered: Direction): void {
    add(path, null, 'an operation')
    for (const name of ['operationId', 'security']) {
      if (name in operation) add(`${path} ${name}`, path, JSON.stringify(operation[name]))
    }
    for (const parameter of (operation['parameters'] as Json[] | undefined ?? []).map(resolveRef)) {
      visitSchema(
        `${path} ${parameter['in']} ${parameter['name']}`,
        path,
        parameter['schema'],
        sent,
        parameter['required'] === true
      )
    }
    if ('requestBody' in operation) visitContent(`${path} body`, path, resolveRef(operation['requestBody']), sent)
    for (const [status, response] of entriesOf(operation['responses'])) {
      visitResponse(`${path} ${status}`, path, resolveRef(response), answered)
    }
  }

  function visitResponse (path: string, parent: string, response: Json, direction: Direction): void {
    add(path, parent, 'a response')
    for (const [name, header] of entriesOf(response['headers'])) {
      visitSchema(`${path} header ${name}`, path, resolveRef(header)['schema'], direction, false)
    }
    visitContent(`${path} body`, path, response, direction)
  }

  function visitContent (path: string, parent: string, body: Json, direction: Direction): void {
    for (const [type, { schema }] of entriesOf(body['content'])) {
      visitSchema(`${path} ${type}`, parent, schema, direction, body['required'] === true)
    }
  }

  function visitSchema (
    path: string,
    parent: string | null,
    value: unknown,
    direction: Direction,
    isRequired = false
  ): void {
    const schema = isObject(value) ? value : {}
    const ref = schema['$ref']
    // Types have no quotes, because readers need not expect new types.
    const choices = [
      ...[schema['type'] ?? []].flat().map(String),
      ...[schema['enum'] ?? []].flat().map((one) => JSON.stringify(one))
    ]
    add(path, parent, typeof ref === 'string' ? ref : describe(schema), direction, isRequired, choices)
    if (typeof ref === 'string') return visitComponent(ref, direction)
    const required = (schema['required'] as string[] | undefined) ?? []
    for (const [name, property] of entriesOf(schema['properties'])) {
      visitSchema(`${path}.${name}`, path, property, direction, required.includes(name))
    }
    for (const name of ['items', 'additionalProperties']) {
      if (isObject(schema[name])) visitSchema(`${path} ${name}`, path, schema[name], direction)
    }
    for (const name of ['anyOf', 'oneOf', 'allOf']) {
      ;((schema[name] as unknown[] | undefined) ?? []).forEach((one, index) =>
        visitSchema(`${path} ${name} ${index + 1}`, path, one, direction)
      )
    }
  }

  function visitComponent (ref: string, direction: Direction): void {
    if (visited.has(ref + direction)) return
    visited.add(ref + direction)
    visitSchema(ref.replace('#/components/schemas/', ''), null, resolveRef({ $ref: ref }), direction)
  }

  function resolveRef (value: unknown): Json {
    if (!isObject(value)) return {}
    const { $ref: ref } = value
    if (typeof ref !== 'string') return value
    return resolveRef(
      ref
        .split('/')
        .slice(1)
        .reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), document)
    )
  }

  function add (
    path: string,
    parent: string | null,
    text: string,
    direction: Direction | null = null,
    isRequired = false,
    choices: string[] = []
  ): void {
    addPart(shape, path, { text, choices, parent, isRequired }, direction)
  }
}

/** The keywords that restrict a schema, in a fixed order. */
function describe (schema: Json): string {
  const keywords = Object.entries(schema).filter(
    ([name]) => !texts.has(name) && !nested.has(name) && !name.startsWith('x-')
  )
  const closed = schema['additionalProperties'] === false ? [['additionalProperties', false]] : []
  return [...keywords, ...closed].map(([name, value]) => `${name} ${JSON.stringify(value)}`).sort().join(', ')
}

function isObject (value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function entriesOf (value: unknown): Array<[string, Json]> {
  return isObject(value) ? Object.entries(value) as Array<[string, Json]> : []
}
