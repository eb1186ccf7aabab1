import type { Id, IdKind } from '../../ports/index.js'

/** What ids look like. */
export type IdForm = 'integer' | 'text' | 'uuid'

// In code point order. A storage that orders by a language or ignores letter case confuses some of them.
const digits = '!\'*-09AMZ\\_abmz~'

/** Returns the form of ids of a kind. */
export function findForm (kind: IdKind, hasUuids: boolean): IdForm {
  if (kind === 'integer') return 'integer'
  return hasUuids ? 'uuid' : 'text'
}

/** Returns the id that stands for a positive integer. The ids are in the order of their integers. */
export function toSampleId (number: number, form: IdForm): Id {
  if (form === 'integer') return number
  const hex = number.toString(16).padStart(16, '0')
  if (form === 'text') return hex.replace(/./g, (digit) => digits.charAt(Number.parseInt(digit, 16)))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${hex.slice(15)}00-000000000000`
}

/** Returns the integer that an id stands for. Returns text that says what came if it stands for none. */
export function fromSampleId (id: unknown, form: IdForm): unknown {
  if (form === 'integer') return id
  if (typeof id !== 'string') return `${typeof id} ${String(id)}`
  const hex = form === 'text' ? Array.from(id, (digit) => digits.indexOf(digit).toString(16)).join('') : id.replaceAll('-', '')
  const number = Number.parseInt(form === 'text' ? hex : `${hex.slice(0, 12)}${hex.slice(13, 16)}${hex.slice(17, 18)}`, 16)
  return toSampleId(number, form) === id ? number : id
}
