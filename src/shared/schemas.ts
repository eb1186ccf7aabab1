import type { TSchema } from '@sinclair/typebox'
import { Type } from './type-builder.js'

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
