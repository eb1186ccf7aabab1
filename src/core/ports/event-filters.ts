/** A value in filters: a finite number, or text of at most 255 characters without NUL and lone surrogates. */
export type FilterValue = string | number | boolean | null

/**
 * Selects events by their bodies: 1 to 10 paths, each with the 1 to 50 values that match, in the order given by the
 * client. A path is `data` and 1 to 4 names of 1 to 64 characters, without dots and control characters, joined by dots:
 * `data.job_id`.
 *
 * A body matches if every path leads to one of its values. Values of different types are never equal, and 1 equals 1.0.
 * Names lead only into objects, never into arrays. An object or array equals no value. A missing value counts as
 * `null`, even in an empty body. Text with NUL or a lone surrogate equals no value.
 */
export type EventFilters = Record<string, FilterValue[]>
