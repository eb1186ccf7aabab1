import type { TSchema } from '@sinclair/typebox'

/** Whether absent fields with a `default` are filled in, as in request bodies. */
interface Reading {
  isFilledIn: boolean
}

/**
 * Moves each `default` into the description: generators such as openapi-typescript treat a field with a `default` as always
 * present. A field that is filled in is not required.
 */
export function describeDefaults (schema: TSchema, reading: Reading): TSchema {
  const { default: usual, required, ...described } = schema
  for (const keyword of ['properties', 'patternProperties']) {
    if (schema[keyword] !== undefined) described[keyword] = describeEach(schema[keyword], reading)
  }
  for (const keyword of ['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']) {
    if (schema[keyword] !== undefined) described[keyword] = describeWithin(schema[keyword], reading)
  }
  const sent = (required ?? []).filter((name: string) => !reading.isFilledIn || schema.properties?.[name]?.default === undefined)
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
