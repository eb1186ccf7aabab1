import { type WireErrorCode, wireErrors } from '../../src/http/errors.js'
import { readMembers } from './members.js'

/** Writes a table in Markdown. */
type Table = () => Promise<string>

/** The tables of the README and the pages, by the names in their markers. */
export const tables: Record<string, Table> = {
  'api-errors': () => apiErrors(['status', 'code', 'message', 'when'], ({ status, code, message, when }) => [status, code, message, when]),
  'api-errors-in-short': () => apiErrors(['status', 'code', 'when'], ({ status, code, when }) => [status, code, firstSentence(when)]),
  async 'host-errors' () {
    const codes = await readMembers('src/errors.ts', 'RecruitingApiErrorCode')
    return formatTable(['code', 'when'], codes.map(({ name, text }) => [quote(name), text]))
  }
}

interface ApiError {
  status: string
  code: string
  message: string
  when: string
}

async function apiErrors (header: readonly string[], toRow: (error: ApiError) => string[]): Promise<string> {
  const codes = await readMembers('src/http/errors.ts', 'wireErrors')
  return formatTable(header, codes.map(({ name, text }) => {
    const { status, message } = wireErrors[name as WireErrorCode]
    return toRow({ status: String(status), code: quote(name), message, when: text })
  }))
}

function formatTable (header: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return `${formatRow(header)}|${'---|'.repeat(header.length)}\n${rows.map(formatRow).join('')}`
}

function formatRow (cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}

function quote (code: string): string {
  return `\`${code}\``
}

function firstSentence (text: string): string {
  return text.replace(/(?<=\.) .*/, '')
}
