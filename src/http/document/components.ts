import type { TSchema } from '@sinclair/typebox'

type Json = Record<string, unknown>

const componentName = /^[A-Za-z0-9._-]+$/

/** Keywords that hold values, not schemas. */
const values = new Set(['examples', 'default', 'const', 'enum'])

/** What a document says once and refers to: schemas, and the answers that many operations give. */
export class Components {
  readonly #schemas: Record<string, Json> = {}
  readonly #responses: Record<string, Json> = {}

  /** The schema as the document has it: every part that has a title is a component of that name. */
  schema (schema: TSchema): Json {
    return this.#visit(schema) as Json
  }

  /** A response that is a component of its own. */
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
    // A property may have the name too; that one is a schema.
    if (typeof title === 'string' && componentName.test(title)) return this.#hoist(title, schema)
    return title === undefined ? schema : { title, ...schema }
  }

  /** The first one takes the name: another schema of a host's that has the same title stays where it is. */
  #hoist (name: string, schema: Json): Json {
    const known = this.#schemas[name] ??= schema
    return known === schema || JSON.stringify(known) === JSON.stringify(schema) ? { $ref: `#/components/schemas/${name}` } : schema
  }
}
