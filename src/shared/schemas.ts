import type { TSchema } from '@sinclair/typebox'
import { Type } from './typebox.js'

/** Uses an array of types, which serializes faster than a union. */
export function Nullable<T extends TSchema> (schema: T) {
  const values = schema.enum === undefined ? {} : { enum: [...schema.enum, null] }
  return Type.Unsafe<T['static'] | null>({ ...schema, ...values, type: [schema.type, 'null'] })
}

/** Uses an enum, which is shorter in the document and serializes faster than a union. */
export function OneOf<const T extends string> (
  values: readonly T[],
  options: { description?: string; default?: NoInfer<T> } = {}
) {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options })
}

const dateTime = { format: 'date-time', examples: ['2026-03-01T09:30:00.000Z'] }

/** RFC 3339 in UTC with milliseconds. */
export const DateTime = Type.String(dateTime)

export function DateTimeOf (description: string) {
  return Type.String({ ...dateTime, description })
}

/**
 * Returns a value for the schema, from its examples; parts without one get a value of their type. It may break rules
 * that are hard to fulfil, such as `pattern`.
 */
export function exampleOf (schema: TSchema): unknown {
  const { examples: [example] = [], const: only, default: usual, enum: choices, anyOf, oneOf, allOf, type } = schema
  for (const value of [example, only, usual, choices?.[0]]) if (value !== undefined) return value
  const [alternative] = anyOf ?? oneOf ?? []
  if (alternative !== undefined) return exampleOf(alternative)
  if (Array.isArray(allOf)) return Object.assign(exampleOfObject(schema), ...allOf.map(exampleOf))
  const [first] = [type].flat()
  if (first === 'object') return exampleOfObject(schema)
  if (first === 'array') return exampleOfArray(schema)
  if (first === 'string') return exampleOfText(schema)
  if (first === 'integer' || first === 'number') return exampleOfNumber(schema)
  return first === 'boolean' ? true : null
}

/** Contains the required properties and those with an example. */
function exampleOfObject ({ properties = {}, required = [] }: TSchema): object {
  const entries = Object.entries(properties as Record<string, TSchema>)
  const shown = entries.filter(([name, { examples }]) => required.includes(name) || examples !== undefined)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
}

/** A tuple has one schema per item. */
function exampleOfArray ({ items, minItems = 0 }: TSchema): unknown[] {
  if (Array.isArray(items)) return items.map(exampleOf)
  return items === undefined ? [] : Array.from({ length: Math.max(1, minItems) }, () => exampleOf(items))
}

const textExamples: Record<string, string> = {
  'date-time': '2026-03-01T09:30:00.000Z',
  date: '2026-03-01',
  time: '09:30:00Z',
  duration: 'P1D',
  email: 'ada@example.com',
  hostname: 'www.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://www.example.com/',
  uuid: '0b9a2f4e-5a53-4c8e-9f0e-2f6b8d1c7a11'
}

function exampleOfText ({ format, minLength = 0, maxLength }: TSchema): string {
  return textExamples[format] ?? 'text'.padEnd(minLength, '.').slice(0, maxLength)
}

/** The smallest number that is allowed; without a lower limit 1, or the largest if that is smaller. */
function exampleOfNumber ({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: TSchema): number {
  const largest = maximum ?? (exclusiveMaximum === undefined ? 1 : exclusiveMaximum - 1)
  const smallest = minimum ?? (exclusiveMinimum === undefined ? Math.min(1, largest) : exclusiveMinimum + 1)
  const step = multipleOf ?? (type === 'integer' ? 1 : undefined)
  return step === undefined ? smallest : Math.ceil(smallest / step) * step
}
