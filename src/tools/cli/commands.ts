import { parseArgs } from 'node:util'
import { mapValues } from '../../core/shared/fields.js'
import { findSimilarName } from '../../core/shared/read-options.js'
import {
  type Command, Flags, type Io, type LocalCommand, type Option, type Options, program, type Usage, UsageError
} from './command.js'
import { isSet, secretOptions } from './secrets.js'
import { formatTable } from './terminal.js'

export interface CommandEntry {
  about: string
  load (): Promise<Command | LocalCommand>
}

/** Imports a command only when it runs, so that it does not slow down the others. */
function command<Name extends string> (
  about: string, file: () => Promise<Readonly<Record<Name, Command | LocalCommand>>>, name: Name
): CommandEntry {
  return { about, load: async () => (await file())[name] }
}

const start = () => import('./demo-and-init.js')
const setUp = () => import('./set-up.js')
const upkeep = () => import('./upkeep.js')
const doctor = () => import('./doctor/doctor.js')
const keys = () => import('./keys.js')
const webhooks = () => import('./webhooks.js')
const deliveries = () => import('./deliveries.js')
const listen = () => import('./listen.js')
const subscriptions = () => import('./subscriptions.js')
const tenants = () => import('./tenants.js')

export const commands: Readonly<Record<string, CommandEntry>> = {
  demo: command('runs a small ATS on this machine, in memory', start, 'demo'),
  init: command('creates an ATS with the API, the portal and tests in a new folder', start, 'init'),
  migrate: command('creates the tables, or updates them', setUp, 'migrate'),
  grants: command('shows or grants the privileges that your servers and workers need', setUp, 'grants'),
  watch: command("records a table's changes for sync", setUp, 'watch'),
  doctor: command('finds problems and shows how to fix them', doctor, 'doctor'),
  'keys issue': command('issues an API key', keys, 'issue'),
  'keys import': command('moves your existing API keys, as text or as SHA-256 digests', keys, 'importKeys'),
  'keys list': command("lists a tenant's API keys", keys, 'list'),
  'keys rotate': command('replaces an API key; the old one stays valid for a while', keys, 'rotate'),
  'keys revoke': command('revokes an API key immediately', keys, 'revoke'),
  'webhooks list': command('lists webhooks of one tenant or all tenants', webhooks, 'list'),
  'webhooks failing': command('lists failing and disabled webhooks of all tenants', webhooks, 'failing'),
  'webhooks show': command('shows a webhook and its health', webhooks, 'show'),
  'webhooks enable': command('activates a webhook', webhooks, 'enable'),
  'webhooks disable': command('deactivates a webhook', webhooks, 'disable'),
  'webhooks delete': command('deletes a webhook', webhooks, 'remove'),
  'webhooks disable-all': command('deactivates webhooks of one tenant or all tenants', webhooks, 'disableAll'),
  'webhooks delete-all': command('deletes webhooks of one tenant or all tenants', webhooks, 'removeAll'),
  'webhooks test': command('sends a test notification', webhooks, 'test'),
  'webhooks import': command("creates webhooks with their receivers' existing secrets", webhooks, 'importWebhooks'),
  'deliveries list': command('lists the latest deliveries of a webhook', deliveries, 'list'),
  'deliveries show': command('shows a delivery and its attempts', deliveries, 'show'),
  'deliveries explain': command('explains why a webhook got an event or not', deliveries, 'explain'),
  'deliveries retry': command('attempts a delivery again', deliveries, 'retry'),
  'subscriptions list': command("lists agents' subscriptions to events", subscriptions, 'list'),
  'subscriptions end': command("ends agents' subscriptions", subscriptions, 'end'),
  replay: command('sends past events to a webhook again', deliveries, 'replay'),
  listen: command("shows a tenant's events and sends them to a receiver on your machine", listen, 'listen'),
  trigger: command('sends a test event to a webhook or to a receiver on your machine', listen, 'trigger'),
  'subjects find': command('lists who received data about a person, as JSON lines', tenants, 'findSubject'),
  'tenants rename': command('renames a tenant, with its webhooks, keys and events', tenants, 'rename'),
  'tenants remove': command('deletes a tenant, with its webhooks, keys and events', tenants, 'remove'),
  'tenants suspend': command('suspends a tenant: its requests get 403, and nothing is sent', tenants, 'suspend'),
  'tenants resume': command("ends a tenant's suspension, and sends or skips what waits", tenants, 'resume'),
  'tenants suspended': command('lists the suspended tenants', tenants, 'suspended'),
  'tenants use-ids': command('moves all data from slugs to ids, for the option tenantId', tenants, 'useIds'),
  adopt: command('lets a copy of the database send notifications', upkeep, 'adopt'),
  stats: command('shows the state of the queue', upkeep, 'stats'),
  prune: command('deletes old events and deliveries', upkeep, 'prune'),
  reseal: command('encrypts webhook secrets with a new key', upkeep, 'reseal')
}

export function describeProgram (): string[] {
  const rows = Object.entries(commands).map(([name, { about }]) => [`  ${name}`, about])
  const more = `${program} COMMAND --help shows the options of a command. ` +
    'Exit codes: 0 done, 1 rejected or a problem found, 2 wrong usage.'
  return [`usage: ${program} COMMAND [OPTIONS]`, '', ...formatTable(rows), '', more]
}

export function describeUsage (name: string, { args = [], options = {} }: Usage): string {
  const required = Object.entries(options)
    .filter(([, { isRequired }]) => isRequired)
    .map(([option, { value }]) => `--${option} ${value}`)
  return ['usage:', program, name, ...args, ...required, '[OPTIONS]'].join(' ')
}

export function describeCommand (name: string, command: Usage): string[] {
  const rows = Object.entries(optionsOf(command)).map(([option, { value, about, variables }]) => [
    `  --${option}${value === null ? '' : ` ${value}`}`,
    variables === undefined ? about : `${about}; or set ${variables.join(' or ')}`
  ])
  return [describeUsage(name, command), '', `${name} ${commands[name]?.about}.`, '', ...formatTable(rows)]
}

const help: Option = { value: null, about: 'shows this help' }

/** Every command's options for auditing: who runs it and which file records that. */
export const auditOptions: Readonly<Record<'actor' | 'audit-file', Option>> = {
  actor: { value: 'NAME', about: 'who runs the command, for --audit-file', variables: ['RECRUITING_ACTOR'] },
  'audit-file': {
    value: 'FILE',
    about: 'appends a line of JSON about the command to a file',
    variables: ['RECRUITING_AUDIT_FILE']
  }
}

const commonOptions: Options = {
  ...secretOptions('database-url', 'URL', 'the database'),
  schema: { value: 'NAME', about: 'the schema that migrate created; the default is recruiting' },
  ...auditOptions,
  json: { value: null, about: 'writes the result as JSON' },
  yes: { value: null, about: 'does not ask for confirmation' },
  help
}

/** Returns the options of a command: its own, then the common ones. */
export function optionsOf (command: Usage): Options {
  return { ...command.options, ...('runLocally' in command ? { help } : commonOptions) }
}

/**
 * Parses the arguments after the command's name. A variable in `env` can replace a required option. Throws
 * `UsageError`, which shows `usage` if an argument is missing.
 */
export function parseFlags (
  argv: readonly string[], command: Usage, env: Io['env'] = {}, usage = 'see --help'
): { flags: Flags, args: string[] } {
  const known = optionsOf(command)
  const options = mapValues(known, ({ value }) => ({ type: value === null ? 'boolean' as const : 'string' as const }))
  const { tokens } = parseArgs({ args: [...argv], options, tokens: true, strict: false })
  const values = new Map<string, string | true>()
  const given: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') given.push(token.value)
    if (token.kind !== 'option') continue
    const { name, value } = token
    const option = Object.hasOwn(known, name) ? known[name] : undefined
    if (option === undefined) {
      const similar = findSimilarName(name, Object.keys(known))
      const hint = similar === null ? '; --help lists all of them' : `, did you mean --${similar}?`
      throw new UsageError(`${token.rawName}: unknown option${hint}`)
    }
    if (values.has(name)) throw new UsageError(`--${name}: given twice`)
    if (option.value === null && value !== undefined) throw new UsageError(`--${name}: takes no value`)
    // If a value is missing, the next option's name follows.
    const isValue = value !== undefined && value !== '' && (token.inlineValue || !value.startsWith('-'))
    if (option.value !== null && !isValue) throw new UsageError(`--${name}: needs a value, --${name} ${option.value}`)
    values.set(name, value ?? true)
  }
  const flags = new Flags(values)
  if (!flags.has('help')) assertComplete(flags, given, command, env, usage)
  return { flags, args: given }
}

function assertComplete (
  flags: Flags, given: readonly string[], { args = [], options = {} }: Usage, env: Io['env'], usage: string
): void {
  const surplus = given[args.length]
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)}: unexpected argument`)
  const missing = args[given.length]
  if (missing !== undefined) throw new UsageError(`${missing}: missing, ${usage}`)
  for (const [name, { isRequired, value, variables = [] }] of Object.entries(options)) {
    if (isRequired !== true || flags.has(name) || variables.some((variable) => isSet(env[variable]))) continue
    const ways = [`add --${name} ${value}`, ...variables.map((variable) => `set ${variable}`)]
    throw new UsageError(`--${name}: missing, ${ways.join(' or ')}`)
  }
}
