/** Prints one line: the reporter, the tenant and the text. */
export type Print = (who: string, tenantSlug: string, text: string) => void

/** Prints to the console in columns, with the time. */
export const printToConsole: Print = (who, tenantSlug, text) => {
  const time = new Date().toTimeString().slice(0, 8)
  console.log(`${time}  ${who.padEnd(8)}  ${tenantSlug.padEnd(6)}  ${text}`)
}

/** The printed fields of a log line. */
interface LogEntry {
  msg: string
  event_id?: string
  attempt?: number
  response_status?: number | null
  error?: string | null
  err?: { message: string }
  retry_in_ms?: number
}

/** Options for Fastify's logger: prints warnings, such as failed deliveries, in the same format. */
export function createLoggerOptions (print: Print): { level: 'warn', stream: { write (line: string): void } } {
  return {
    level: 'warn',
    stream: {
      write (line) {
        print('ats', '', formatEntry(JSON.parse(line) as LogEntry))
      }
    }
  }
}

function formatEntry (entry: LogEntry): string {
  const { msg, event_id: eventId, attempt, response_status: status, error, err, retry_in_ms: retryInMs } = entry
  const reason = status ?? error ?? err?.message
  const details = [
    ...(reason === undefined || reason === null ? [] : [`${reason}`]),
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(retryInMs === undefined ? [] : [`next in ${(retryInMs / 1000).toFixed(1)} s`])
  ]
  return [`warning: ${msg}`, ...(details.length === 0 ? [] : [`(${details.join(', ')})`]), eventId].join(' ').trimEnd()
}
