import { assertOption, type Readers, orNull } from '../shared/read-options.js'
import { parseCidr } from '../shared/networks.js'
import { isPlainText } from '../shared/text.js'

/** The networks that a key may be used from, and the fields it can read; `null` without a limit. */
export interface KeyLimits {
  allowedIps: string[] | null
  candidateFields: string[] | null
  jobFields: string[] | null
}

const maxNetworks = 100
const maxFields = 200

/** The check of each limit. */
export const keyLimitReaders = {
  allowedIps: orNull(readNetworks),
  candidateFields: orNull(readFields),
  jobFields: orNull(readFields)
} satisfies Readers<KeyLimits>

/** Reads a list of networks. Throws `invalid_option`. */
export function readNetworks (value: unknown, path: string): string[] {
  // An empty list would make a key that nobody can use.
  assertOption(hasItems(value, 1, maxNetworks), path, `1 to ${maxNetworks} CIDRs`, value)
  for (const [index, cidr] of value.entries()) {
    assertOption(
      typeof cidr === 'string' && parseCidr(cidr) !== null,
      `${path}[${index}]`,
      'a CIDR such as 203.0.113.0/24 or 203.0.113.7/32',
      cidr
    )
  }
  return [...value]
}

/** Returns the limits that there are, frozen. */
export function omitNull (limits: KeyLimits): { [Name in keyof KeyLimits]?: readonly string[] } {
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) => (limit === null ? [] : [[name, Object.freeze(limit)]]))
  )
}

function readFields (value: unknown, path: string): string[] {
  const isValid = hasItems(value, 0, maxFields) && value.every((name) => isPlainText(name, 100))
  assertOption(isValid, path, `up to ${maxFields} names of fields`, value)
  return [...value]
}

function hasItems (value: unknown, minimum: number, maximum: number): value is string[] {
  return Array.isArray(value) && value.length >= minimum && value.length <= maximum
}
