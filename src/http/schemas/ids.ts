import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { Id, IdKind } from '../../ports/index.js'
import { textIdPattern } from '../../shared/ids.js'

/** Examples of text ids. */
export const textIdExamples = {
  candidate: '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
  job: '0197f4c2-8a11-7b62-8f04-1e9d3c5a7b28',
  source: '0197f4c2-8a12-7a95-a3d6-4b7f2e8c1d09',
  recruiter: '0197f4c2-8a13-7c1f-b2e7-9a5d6f3c8e41'
}

/** Returns the schema of an id in an answer; `integer` is the one of integer ids. */
export function answeredId (kind: IdKind, integer: TSchema, example: string): TUnsafe<Id> {
  if (kind === 'integer') return Type.Unsafe<Id>(integer)
  const { description } = integer
  return Type.Unsafe<Id>(Type.String({ ...(description === undefined ? {} : { description }), examples: [example] }))
}

/** Returns the schema of an id in a request. Text that cannot be an id gets 400. */
export function requestedId (kind: IdKind, integer: TSchema, example: string): TUnsafe<Id> {
  if (kind === 'integer') return Type.Unsafe<Id>(integer)
  return Type.Unsafe<Id>(Type.String({ ...answeredId(kind, integer, example), pattern: textIdPattern }))
}
