import type { ErrorObject, ValidateFunction } from 'ajv'
import { formatFaultPath } from '../../shared/ajv.js'

/** Limits the length of the answer. */
const maxFaults = 20

/** Limit the search: a body of 64 KiB can have 32,000 faults. */
const maxValues = 2000
const maxItems = 100

/** Returns up to 20 faults of a value whose first fault is known. Checks only a sample of large values. */
export function findFaults (value: unknown, first: ErrorObject, validateAll: ValidateFunction): ErrorObject[] {
  const budget = { left: maxValues }
  const sample = takeSample(value, budget)
  if (budget.left < 0 || validateAll(sample)) return [first]
  const faults = validateAll.errors as ErrorObject[]
  return [first, ...faults.filter((fault) => nameOf(fault) !== nameOf(first))].slice(0, maxFaults)
}

/** Copies a value with only the first items of its arrays. */
function takeSample (value: unknown, budget: { left: number }): unknown {
  budget.left--
  if (budget.left < 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => takeSample(item, budget))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, takeSample(member, budget)]))
}

function nameOf (fault: ErrorObject): string {
  return `${fault.keyword} ${formatFaultPath(fault)}`
}
