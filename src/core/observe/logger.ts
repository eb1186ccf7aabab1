import type { Clock } from '../ports/index.js'
import { isObject, readField } from '../shared/fields.js'

/** The logger methods that this package calls, as in pino. `app.log` fits. */
export interface Logger {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

const ignore = (): void => {}

/**
 * Returns a logger that never throws. It drops lines that the given logger fails to write, and converts `err` with
 * `toLoggableError`, so that no thrown value can break a line.
 */
export function createSafeLogger (logger: Logger): Logger {
  const attempt = (level: keyof Logger) => (fields: object, message: string): void => {
    const safe = 'err' in fields ? { ...fields, err: toLoggableError(fields.err) } : fields
    callHost(() => logger[level](safe, message), ignore)
  }
  return { info: attempt('info'), warn: attempt('warn'), error: attempt('error') }
}

const intervalMs = 60_000
const hint = 'Pass a logger to createRecruiting to see every line.'

/** Returns a logger that emits warnings and errors as process warnings, each message at most once a minute. */
export function createWarningLogger (clock: Pick<Clock, 'monotonic'>): Logger {
  const writtenAtMs = new Map<string, number>()

  function warn ({ err, ...fields }: { err?: unknown }, message: string): void {
    const now = clock.monotonic()
    if (now - (writtenAtMs.get(message) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    writtenAtMs.set(message, now)
    // The error of a failed connection to several addresses has a code and no message.
    const cause = readText(err, 'message') || readText(err, 'code')
    process.emitWarning(cause === undefined ? message : `${message}: ${cause}`, {
      type: 'RecruitingWarning',
      detail: `${hint} ${JSON.stringify(fields)}`
    })
  }

  return { info () {}, warn, error: warn }
}

const maxDepth = 3
const maxErrors = 10
const unreadable = 'an object without a readable message was thrown'

/**
 * Returns a copy of a thrown value that every logger can write: name, message, stack, code, causes and the errors of an
 * `AggregateError`. Omits other fields, because they can contain personal data, such as PostgreSQL's `detail`. Never
 * throws, even for frozen objects, throwing getters and proxies.
 */
export function toLoggableError (thrown: unknown): Error {
  return copyError(thrown, maxDepth)
}

function copyError (thrown: unknown, depth: number): Error {
  const copy = new Error(readText(thrown, 'message') ?? (isObject(thrown) ? unreadable : String(thrown)))
  copy.stack = readText(thrown, 'stack') ?? ''
  const name = readText(thrown, 'name') ?? copy.name
  const code = readText(thrown, 'code')
  const cause = readField(thrown, 'cause')
  if (name !== copy.name) copy.name = name
  if (code !== undefined) Object.assign(copy, { code })
  if (depth === 0) return copy
  if (cause !== undefined) copy.cause = copyError(cause, depth - 1)
  const errors = readErrors(thrown)
  return errors === null ? copy : Object.assign(copy, { errors: errors.map((error) => copyError(error, depth - 1)) })
}

function readErrors (thrown: unknown): unknown[] | null {
  const errors = readField(thrown, 'errors')
  try {
    return Array.isArray(errors) ? errors.slice(0, maxErrors) : null
  } catch {
    return null
  }
}

/** Returns a field of a thrown value as text; `undefined` if it is missing, an object, or reading it throws. */
export function readText (thrown: unknown, name: string): string | undefined {
  const value = readField(thrown, name)
  return value === undefined || value === null || isObject(value) ? undefined : String(value)
}

/**
 * Calls a host function and returns its result, or `undefined` if it throws. Passes thrown errors and rejections to
 * `onError`, so that they neither fail the caller nor crash the process.
 */
export function callHost<Result> (call: () => Result, onError: (error: unknown) => void): Result | undefined {
  try {
    const result = call()
    Promise.resolve(result).catch(onError)
    return result
  } catch (error) {
    onError(error)
    return undefined
  }
}
