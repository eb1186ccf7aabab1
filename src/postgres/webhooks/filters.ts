import type { EventFilters, FilterValue } from '../../ports/index.js'

/** Returns the values of the columns `filters` and `filter_path`. */
export function filterColumns (filters: EventFilters | null): [filters: string | null, filterPath: string | null] {
  return filters === null ? [null, null] : [JSON.stringify(filters), formatFilterPath(filters)]
}

/**
 * Formats filters as a predicate of jsonpath, which PostgreSQL checks far faster than a function could read them. In strict mode, names
 * do not lead into arrays, and the result of a path that leads nowhere is unknown.
 */
function formatFilterPath (filters: EventFilters): string {
  return `strict ${Object.entries(filters).map(formatPath).join(' && ')}`
}

function formatPath ([path, values]: [string, FilterValue[]]): string {
  // The escapes of JSON are also those of jsonpath.
  const place = `$${path.split('.').map((name) => `.${JSON.stringify(name)}`).join('')}`
  const equal = `exists(${place} ? (${values.map((value) => `@ == ${JSON.stringify(value)}`).join(' || ')}))`
  return values.includes(null) ? `(${equal} || (exists(${place})) is unknown)` : equal
}
