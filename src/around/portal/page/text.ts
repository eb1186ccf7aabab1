import type { AttemptError, DeliveryStatus, WebhookStatus } from '../../../core/ports/index.js'
import type { Explanation, WebhookWithHealth } from '../../client/index.js'
import type { Plural, PortalMessages } from '../messages.js'

/** The values of placeholders. */
type Params = Readonly<Record<string, string | number>>

/**
 * Replaces each `{name}` with its value. Text is isolated (U+2068, U+2069), so that a name with right-to-left letters
 * or bidirectional marks cannot reorder the sentence around it. Unknown placeholders do not change.
 */
export function fill (text: string, params: Params, formatNumber: (value: number) => string): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name) => {
    const value = params[name]
    if (value === undefined) return placeholder
    return typeof value === 'number' ? formatNumber(value) : `\u2068${showControls(value)}\u2069`
  })
}

export function choose (plural: Plural, count: number, rules: Intl.PluralRules): string {
  return plural[rules.select(count)] ?? plural.other
}

/** Embeddings, overrides and isolates. Not marks such as U+200E: names in Arabic and Hebrew need them. */
const controls = /[\u202a-\u202e\u2066-\u2069]/g

/** Escapes characters that reorder the text around them, so that addresses and bodies show in their true order. */
export function showControls (text: string): string {
  return text.replaceAll(controls, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
}

/** The texts of the page and the locale of its dates and numbers. */
export interface Language {
  messages: PortalMessages
  locale: string
  direction: 'ltr' | 'rtl'
}

const rightToLeft = ['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg']

/** Names of files with texts, by locale. */
export type LanguageFiles = Readonly<Record<string, string>> & { en: string }

/** The file with the texts of the page, and the locale of its dates and numbers. */
interface LanguageChoice extends Omit<Language, 'messages'> {
  file: string
}

/**
 * Chooses the first wanted locale that has texts, or English. Dates and numbers follow the wanted locale, such as
 * `de-AT`, even if the texts are those of `de`.
 */
export function chooseLanguage (wanted: readonly string[], files: LanguageFiles): LanguageChoice {
  for (const text of wanted) {
    const locale = canonical(text)
    const file = locale === null ? undefined : firstOf(locale, files)
    if (locale !== null && file !== undefined) return { file, locale, direction: directionOf(locale) }
  }
  return { file: files.en, locale: 'en', direction: 'ltr' }
}

/** Looks for `zh-Hant-TW`, then `zh-Hant`, then `zh`. */
function firstOf (locale: string, files: LanguageFiles): string | undefined {
  const file = files[locale]
  const end = locale.lastIndexOf('-')
  return file !== undefined || end === -1 ? file : firstOf(locale.slice(0, end), files)
}

function canonical (text: string): string | null {
  try {
    return new Intl.Locale(text).toString()
  } catch {
    return null
  }
}

function directionOf (locale: string): 'ltr' | 'rtl' {
  const { script = '' } = new Intl.Locale(locale).maximize()
  return rightToLeft.includes(script) ? 'rtl' : 'ltr'
}

const steps: ReadonlyArray<readonly [unit: 'second' | 'minute' | 'hour' | 'day' | 'month' | 'year', ms: number]> = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000]
]

/** Formats texts, numbers and times in the language of the page. */
export type Format = ReturnType<typeof createFormat>

export function createFormat ({ messages, locale }: Language) {
  const rules = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale)
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const times = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const dayTimes = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const relatives = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const lists = new Intl.ListFormat(locale)
  const units = (unit: string) => new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 })
  const number = (value: number) => numbers.format(value)
  return {
    messages,
    locale,
    number,
    /** Fills the placeholders of a text. */
    text: (text: string, params: Params) => fill(text, params, number),
    /** Fills the text for a number, which is `{count}`. */
    plural: (plural: Plural, count: number, params: Params = {}) =>
      fill(choose(plural, count, rules), { ...params, count }, number),
    /** The same for a number that was counted up to a limit, for example "10,000+ deliveries". */
    pluralOver: (plural: Plural, count: number) =>
      fill(choose(plural, count, rules), { count }, (value) => `${number(value)}+`),
    /** A share from 0 to 1, for example "99.5%". */
    percent: (share: number) => percents.format(share),
    /** A date without a time, the same in every time zone. */
    date: (value: string) => dates.format(new Date(value)),
    /** A date with its time to the second. */
    instant: (value: string | number) => instants.format(new Date(value)),
    /** The time of day, with the date unless it is today. */
    time (value: string | number, now: number) {
      const date = new Date(value)
      return (date.toDateString() === new Date(now).toDateString() ? times : dayTimes).format(date)
    },
    /** For example "3 minutes ago" or "in 5 seconds". */
    relative (value: string | number, now: number) {
      const ms = new Date(value).getTime() - now
      const [unit, size] = steps.find(([, size]) => Math.abs(ms) >= size) ?? ['second', 1000]
      return relatives.format(Math.trunc(ms / size), unit)
    },
    /** For example "1.5 sec" or "87 ms". */
    duration: (ms: number) => ms < 1000 ? units('millisecond').format(ms) : units('second').format(ms / 1000),
    /** For example "a, b and c". */
    list: (items: readonly string[]) => lists.format(items)
  }
}

const jsonToken = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g
const opening: ReadonlyArray<string | undefined> = ['{', '[']
const closing: ReadonlyArray<string | undefined> = ['}', ']']

/**
 * Indents JSON without parsing its values, so that numbers, escapes and repeated names do not change. Returns other
 * text unchanged.
 */
export function prettyJson (text: string): string {
  if (parseJson(text) === undefined) return text
  let newLine = '\n'
  const tokens = Array.from(text.matchAll(jsonToken), ([part]) => part)
  return tokens.map((part, index) => {
    if (opening.includes(part)) {
      newLine += '  '
      return closing.includes(tokens[index + 1]) ? part : part + newLine
    }
    if (closing.includes(part)) {
      newLine = newLine.slice(0, -2)
      return opening.includes(tokens[index - 1]) ? part : newLine + part
    }
    if (part === ',') return part + newLine
    return part === ':' ? ': ' : part
  }).join('')
}

export function parseUrl (text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** Returns the value, or `undefined` for text that is not JSON. */
export function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The colour and icon of a state. */
export type Tone = 'good' | 'waiting' | 'bad' | 'off'

/** The health of a webhook in one word, and its tone. */
interface HealthWord {
  tone: Tone
  word: 'active' | 'failing' | 'paused' | 'disabled' | 'held'
}

/** Returns the word for a webhook. Lists contain no health, so `null` leaves only the status. */
export function healthWord (status: WebhookStatus, health: WebhookWithHealth['health'] | null): HealthWord {
  if (status === 'disabled') return { tone: 'bad', word: 'disabled' }
  if (status === 'inactive') return { tone: 'off', word: 'paused' }
  if (health?.held) return { tone: 'waiting', word: 'held' }
  return health?.failing_since == null ? { tone: 'good', word: 'active' } : { tone: 'waiting', word: 'failing' }
}

interface Outcome {
  response_status: number | null
  error: string | null
  detail?: string | null
}

export const tones: Readonly<Record<DeliveryStatus, Tone>> = {
  pending: 'waiting', delivered: 'good', failed: 'bad', skipped: 'off', cancelled: 'off'
}

/** Describes the result of the last attempt in a few words; `null` without an attempt. */
export function describeResult (
  { response_status: status, error, detail = null }: Outcome,
  { messages: { log, test }, text }: Pick<Format, 'messages' | 'text'>
): string | null {
  const known = findDetail(detail, test)
  if (known !== null) return known.title
  if (error !== null) return text(log.answer[knownError(error, log.answer)], { status: String(status) })
  return status === null ? null : text(log.answer.http_status, { status: String(status) })
}

/** Returns advice after a failed attempt; `null` after a success. */
export function adviceFor (outcome: Outcome, texts: PortalMessages['test']): string | null {
  const { response_status: status } = outcome
  const hint = status === null ? null : hintFor(status)
  return outcome.error === null ? null : hint === null ? describeFailure(outcome, texts).text : texts.statuses[hint]
}

/** Returns the problem and its remedy, by the cause if it is known, otherwise by the error. */
export function describeFailure (
  { error, detail = null }: Outcome, texts: PortalMessages['test']
): { title: string, text: string } {
  return findDetail(detail, texts) ?? texts.errors[knownError(String(error), texts.errors)]
}

/** Returns the texts of a cause; `null` without one, or for one of a later version. */
function findDetail (detail: string | null, { details }: PortalMessages['test']) {
  return detail !== null && Object.hasOwn(details, detail) ? details[detail as keyof typeof details] : null
}

/** Returns why a webhook got an event or not, in the words that the page has for it elsewhere. */
export function describeReason (
  reason: Explanation['reason'],
  { delivery: { outcome }, endpoint: { health }, endpoints, explain, log, problem }: PortalMessages
): string {
  const texts: Record<Explanation['reason'], string> = {
    ...log.status,
    paused: endpoints.health.paused,
    suspended: problem.suspended.title,
    held: health.held.title,
    inactive: outcome.skipped,
    erased: outcome.cancelled,
    ...explain.reasons
  }
  return texts[reason]
}

type StatusHint = keyof PortalMessages['test']['statuses']

const statusHints: Readonly<Record<number, StatusHint>> = {
  401: 'credentials',
  403: 'credentials',
  404: 'notFound',
  405: 'method',
  410: 'gone',
  413: 'tooLarge',
  429: 'busy',
  503: 'busy'
}

function hintFor (status: number): StatusHint | null {
  if (status >= 300 && status < 400) return 'redirect'
  return statusHints[status] ?? (status >= 500 ? 'server' : null)
}

/** Returns the error of an attempt, or `connection` for an error of a later version. */
function knownError<Name extends string> (
  error: string, errors: Readonly<Record<Name | AttemptError, unknown>>
): Name | AttemptError {
  return Object.hasOwn(errors, error) ? (error as Name) : 'connection'
}

/** Returns whether the data of an event was erased: only its id, type and time are left. */
export function isErased (body: string): boolean {
  return Object(parseJson(body)).erased === true
}
