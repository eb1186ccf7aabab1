import type { Plural, PortalMessages } from '../../messages/types.js'
import { type Params, choose, fill } from './fill.js'
import type { Language } from './locale.js'

/** Formats texts, numbers and times in the language of the page. */
export interface Format {
  messages: PortalMessages
  locale: string
  /** Fills the placeholders of a text. */
  text (text: string, params: Params): string
  /** Fills the text for a number, which is `{count}`. */
  plural (plural: Plural, count: number, params?: Params): string
  number (value: number): string
  /** A date with its time to the second. */
  instant (value: string | number): string
  /** The time of day, with the date unless it is today. */
  time (value: string | number, now: number): string
  /** For example "3 minutes ago" or "in 5 seconds". */
  relative (value: string | number, now: number): string
  /** For example "1.5 sec" or "87 ms". */
  duration (ms: number): string
  /** How much time is left, in its two largest units: for example "23 hr, 59 min". */
  span (ms: number): string
  /** For example "a, b and c". */
  list (items: readonly string[]): string
}

const steps: ReadonlyArray<readonly [unit: 'second' | 'minute' | 'hour' | 'day' | 'month' | 'year', ms: number]> = [
  ['year', 31_557_600_000], ['month', 2_629_800_000], ['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000]
]

export function createFormat ({ messages, locale }: Language): Format {
  const rules = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale)
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const times = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const dayTimes = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const relatives = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const lists = new Intl.ListFormat(locale)
  const spans = new Intl.ListFormat(locale, { type: 'unit', style: 'short' })
  const units = (unit: string) => new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 })
  const number = (value: number) => numbers.format(value)
  return {
    messages,
    locale,
    text: (text, params) => fill(text, params, number),
    plural: (plural, count, params = {}) => fill(choose(plural, count, rules), { ...params, count }, number),
    number,
    instant: (value) => instants.format(new Date(value)),
    time (value, now) {
      const date = new Date(value)
      return (date.toDateString() === new Date(now).toDateString() ? times : dayTimes).format(date)
    },
    relative (value, now) {
      const ms = new Date(value).getTime() - now
      const [unit, size] = steps.find(([, size]) => Math.abs(ms) >= size) ?? ['second', 1000]
      return relatives.format(Math.trunc(ms / size), unit)
    },
    duration: (ms) => ms < 1000 ? units('millisecond').format(ms) : units('second').format(ms / 1000),
    span (ms) {
      const parts = spanOf(ms).map(([value, unit]) => units(unit).format(value))
      return spans.format(parts)
    },
    list: (items) => lists.format(items)
  }
}

/** Rounds up to seconds, so that it is 0 at the end and not before. */
function spanOf (ms: number): Array<[value: number, unit: string]> {
  const seconds = Math.ceil(ms / 1000)
  const parts: Array<[number, string]> = [
    [Math.floor(seconds / 86_400), 'day'], [Math.floor(seconds / 3600) % 24, 'hour'], [Math.floor(seconds / 60) % 60, 'minute'], [seconds % 60, 'second']
  ]
  const first = parts.findIndex(([value]) => value > 0)
  return first === -1 ? parts.slice(-1) : parts.slice(first, first + 2).filter(([value]) => value > 0)
}
