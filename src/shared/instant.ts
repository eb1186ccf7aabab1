/**
 * Converts an RFC 3339 date-time to UTC with milliseconds. Returns `null` for other text and for years outside 1 to
 * 9999, which not every storage can compare. A leap second becomes the first second of the next minute.
 */
export function normalizeInstant (text: string): string | null {
  const match = dateTime.exec(text.toUpperCase())
  if (match === null) return null
  const [, day = '', time = '', second = '', rest = ''] = match
  const isLeapSecond = second === '60'
  const date = new Date(Date.parse(`${day}T${time}:${isLeapSecond ? '59' : second}${rest}`) + (isLeapSecond ? 1000 : 0))
  // Date.parse accepts 30 February and returns 2 March.
  const isRealDay = new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(8))
  const year = date.getUTCFullYear()
  return isRealDay && year >= 1 && year <= 9999 ? date.toISOString() : null
}

const dateTime = /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):\d\d):(\d\d)((?:\.\d+)?(?:Z|[+-]\d\d:\d\d))$/
