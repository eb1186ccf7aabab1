import type { TSchema } from '@sinclair/typebox'

/** Returns a value that fits the schema, from its examples; parts without one get a value of their type. */
export function exampleOf (schema: TSchema): unknown {
  const { examples, const: only, default: usual, enum: choices, anyOf, type } = schema
  if (Array.isArray(examples)) return examples[0]
  for (const value of [only, usual, choices?.[0]]) if (value !== undefined) return value
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0])
  const [first] = [type].flat()
  if (first === 'object') return exampleOfObject(schema)
  if (first === 'array') return schema.items === undefined ? [] : [exampleOf(schema.items)]
  if (first === 'string') return exampleOfText(schema)
  if (first === 'integer' || first === 'number') return schema.minimum ?? 1
  return first === 'boolean' ? true : null
}

/** Contains the required properties and those with an example. */
function exampleOfObject ({ properties = {}, required = [] }: TSchema): object {
  const entries = Object.entries(properties as Record<string, TSchema>)
  const shown = entries.filter(([name, { examples }]) => required.includes(name) || examples !== undefined)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
}

const textExamples: Record<string, string> = {
  'date-time': '2026-03-01T09:30:00.000Z',
  date: '2026-03-01',
  time: '09:30:00Z',
  email: 'ada@example.com',
  uri: 'https://www.example.com/',
  uuid: '0b9a2f4e-5a53-4c8e-9f0e-2f6b8d1c7a11'
}

function exampleOfText ({ format, minLength = 0, maxLength }: TSchema): string {
  return textExamples[format] ?? 'text'.padEnd(minLength, '.').slice(0, maxLength)
}
