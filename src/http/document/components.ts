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
    return known === schema || JSON.stringify(known) === JSON.stringify(schema) ? { $ref: `#/components/schemas/${name}` } : schema
  }
}
