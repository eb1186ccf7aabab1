import type { TSchema } from '@sinclair/typebox'

type Json = Record<string, unknown>

const componentName = /^[A-Za-z0-9._-]+$/

/** Keywords that hold values, not schemas. */
const values = new Set(['examples', 'default', 'const', 'enum'])

/** The components of a document: schemas, and responses that many operations share. */
export class Components {
  readonly #schemas: Record<string, Json> = {}
  readonly #responses: Record<string, Json> = {}

  /** Returns the schema for the document. Every part with a title becomes a component of that name. */
  schema (schema: TSchema): Json {
    return this.#visit(schema) as Json
  }

  /** Returns a reference to a shared response. */
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
    const { title, ...schema } = Object.fromEntries(Object.entries(value).map(([key, member]) => {
      return [key, values.has(key) ? member : this.#visit(member)]
    }))
    // A property can have such a name too; its value is a schema.
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

/** Whether absent fields with a `default` are filled in, as in request bodies. */
interface Reading {
  isFilledIn: boolean
}

/**
 * Moves each `default` into the description: generators such as openapi-typescript treat a field with a `default` as
 * always present. A field that is filled in is not required.
 */
export function describeDefaults (schema: TSchema, reading: Reading): TSchema {
  const { default: usual, required, ...described } = schema
  for (const keyword of ['properties', 'patternProperties']) {
    if (schema[keyword] !== undefined) described[keyword] = describeEach(schema[keyword], reading)
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

function describeEach (schemas: Record<string, TSchema>, reading: Reading): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, describeDefaults(schema, reading)]))
}

/** Accepts one schema, several, or the `false` of `additionalProperties`. */
function describeWithin (value: TSchema | TSchema[] | boolean, reading: Reading): unknown {
  if (Array.isArray(value)) return value.map((schema) => describeDefaults(schema, reading))
  return typeof value === 'boolean' ? value : describeDefaults(value, reading)
}

function describeDefault (description: string | undefined, value: unknown): string {
  const said = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\``
  return description === undefined ? said : `${description.replace(/\.$/, '')}. ${said}`
}
