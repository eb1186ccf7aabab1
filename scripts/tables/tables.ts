import { operations, verbs } from '../../src/around/client/client.js'
import { type WireErrorCode, wireErrors } from '../../src/core/http/wire-errors.js'
import { type Member, readMembers } from './members.js'
import { optionTables, tenantFields } from './options.js'

/** Returns a table in Markdown. */
type Table = () => Promise<string>

/** The tables by the name in their marker. */
export const tables: Record<string, Table> = {
  'api-errors': apiErrors,
  async 'host-errors' () {
    const codes = await readMembers('src/core/shared/errors.ts', 'RecruitingApiErrorCode')
    return formatTable(
      ['code', 'when'],
      codes.map(({ name, text }) => [quote(name), text])
    )
  },
  calls: () =>
    meanings('call', [
      ['src/core/webhooks/recruiting.ts', 'EngineCalls'],
      ['src/recruiting.ts', 'Recruiting']
    ]),
  'api-keys-calls': () => meanings('call', [['src/storages/postgres/keys/api-keys.ts', 'ApiKeys']]),
  'client-methods': async () =>
    formatTable(['method', 'operation'], listMethods('client', operations).map((row) => row.map(quote))),
  'webhook-calls': () =>
    meanings('call', [
      ['src/core/api/webhooks.ts', 'webhookOperations'],
      ['src/core/api/deliveries.ts', 'deliveryOperations'],
      ['src/core/webhooks/recruiting.ts', 'RecruitingWebhooks']
    ]),
  'recorder-members': () => meanings('member', [['src/tools/recorder/record-events.ts', 'EventRecorder']]),
  'audit-entry': () => meanings('field', [['src/core/observe/audit.ts', 'AuditEntry']]),
  health: () => meanings('figure', [['src/core/webhooks/diagnostics.ts', 'RecruitingHealth']]),
  'tenant-stats': () => meanings('figure', [['src/core/ports/deliveries.ts', 'TenantDeliveryStats']]),
  stats: () =>
    meanings('figure', [
      ['src/core/ports/deliveries.ts', 'DeliveryStats'],
      ['src/core/webhooks/recruiting.ts', 'RecruitingStats'],
      ['src/core/webhooks/recruiting.ts', 'AttemptCounts']
    ]),
  'emitted-event': () => fields('field', [...tenantFields, ['src/core/webhooks/recruiting.ts', 'EmittedEventFields']]),
  ...Object.fromEntries(
    Object.entries(optionTables).map(([name, interfaces]) => [name, () => fields('option', interfaces)])
  )
}

/** Returns the methods of the client with their operations, such as `client.jobs.list` and `GET /jobs`. */
function listMethods (path: string, methods: object): string[][] {
  return Object.entries(methods).flatMap(([name, entry]) => {
    if (!Array.isArray(entry)) return listMethods(`${path}.${name}`, entry)
    const [kind, operation] = entry as [keyof typeof verbs, string]
    return [[`${path}.${name}`, `${verbs[kind]} ${operation}`]]
  })
}

async function apiErrors (): Promise<string> {
  const codes = await readMembers('src/core/http/wire-errors.ts', 'wireErrors')
  return formatTable(['status', 'code', 'message', 'when'], codes.map(({ name, text }) => {
    const { status, message } = wireErrors[name as WireErrorCode]
    return [String(status), quote(name), message, text]
  }))
}

/** The interfaces of a table, with their files. */
type Interfaces = ReadonlyArray<readonly [path: string, name: string]>

async function meanings (title: string, interfaces: Interfaces): Promise<string> {
  const members = await readAll(interfaces)
  return formatTable([title, 'meaning'], members.map(({ name, text }) => [quote(name), text]))
}

async function fields (title: string, interfaces: Interfaces): Promise<string> {
  const members = await readAll(interfaces)
  const requiredFirst = members.toSorted((one, other) => Number(one.isOptional) - Number(other.isOptional))
  return formatTable(
    [title, 'default', 'meaning'],
    requiredFirst.map((member) => [quote(member.name), formatDefault(member), member.text])
  )
}

async function readAll (interfaces: Interfaces): Promise<Member[]> {
  return (await Promise.all(interfaces.map(([path, name]) => readMembers(path, name)))).flat()
}

/** Formats a default: values as code, words unchanged. */
function formatDefault ({ defaultText, isOptional }: Member): string {
  if (defaultText === null) return isOptional ? 'none' : 'required'
  return /^(\d+|true|false|'[^']*'|\[.*\]|\{.*\})$/.test(defaultText) ? quote(defaultText) : defaultText
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
