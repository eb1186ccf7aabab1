import { type Command, type LocalCommand, program, type Usage } from './command.js'
import { optionsOf } from './flags.js'
import { formatTable } from './terminal.js'

/** A command by its name. */
export interface CommandEntry {
  about: string
  load (): Promise<Command | LocalCommand>
}

/** Imports a command when it runs, so that the others cost no time. */
function command<Name extends string> (
  about: string,
  file: () => Promise<Readonly<Record<Name, Command | LocalCommand>>>,
  name: Name
): CommandEntry {
  return { about, load: async () => (await file())[name] }
}

const demo = () => import('./demo.js')
const init = () => import('./init.js')
const upkeep = () => import('./upkeep.js')
const rights = () => import('./rights.js')
const doctor = () => import('./doctor/doctor.js')
const keys = () => import('./keys.js')
const webhooks = () => import('./webhooks.js')
const deliveries = () => import('./deliveries.js')
const listen = () => import('./listen.js')
const tenants = () => import('./tenants.js')

/** Every command, in the order of `--help`. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  demo: command('runs a small ATS on this machine, in memory', demo, 'demo'),
  init: command('creates an ATS with the API, the portal and tests in a new folder', init, 'init'),
  migrate: command('creates the tables, or updates them', upkeep, 'migrate'),
  grants: command('shows or grants the privileges that your servers and workers need', rights, 'grants'),
  watch: command('records the changes of a table for sync', upkeep, 'watch'),
  doctor: command('finds problems and says how to fix them', doctor, 'doctor'),
  'keys issue': command('issues an API key', keys, 'issue'),
  'keys list': command('lists the API keys of a tenant', keys, 'list'),
  'keys rotate': command('replaces an API key; the old one stays valid for a while', keys, 'rotate'),
  'keys revoke': command('revokes an API key immediately', keys, 'revoke'),
  'webhooks list': command('lists the webhooks of a tenant, or of all tenants', webhooks, 'list'),
  'webhooks failing': command('lists webhooks of all tenants that fail or are disabled', webhooks, 'failing'),
  'webhooks show': command('shows a webhook and its health', webhooks, 'show'),
  'webhooks enable': command('activates a webhook', webhooks, 'enable'),
  'webhooks disable': command('deactivates a webhook', webhooks, 'disable'),
  'webhooks delete': command('deletes a webhook', webhooks, 'remove'),
  'webhooks disable-all': command('deactivates the webhooks of a tenant, or of all tenants', webhooks, 'disableAll'),
  'webhooks delete-all': command('deletes the webhooks of a tenant, or of all tenants', webhooks, 'removeAll'),
  'webhooks test': command('sends a test notification', webhooks, 'test'),
  'webhooks import': command('creates webhooks with the secrets that their receivers know', webhooks, 'importWebhooks'),
  'deliveries list': command('lists the latest deliveries of a webhook', deliveries, 'list'),
  'deliveries show': command('shows a delivery and its attempts', deliveries, 'show'),
  'deliveries retry': command('attempts a delivery again', deliveries, 'retry'),
  replay: command('sends past events to a webhook again', deliveries, 'replay'),
  listen: command('shows the events of a tenant and sends them to a receiver on your machine', listen, 'listen'),
  trigger: command('sends a test event to a webhook or to a receiver on your machine', listen, 'trigger'),
  'subjects find': command('lists who received data about a person, as JSON lines', tenants, 'findSubject'),
  'tenants rename': command('renames a tenant, with its webhooks, keys and events', tenants, 'rename'),
  'tenants remove': command('deletes a tenant, with its webhooks, keys and events', tenants, 'remove'),
  'tenants use-ids': command('moves all data from slugs to ids, for the option tenantId', tenants, 'useIds'),
  adopt: command('lets a copy of the database send notifications', upkeep, 'adopt'),
  stats: command('shows the state of the queue', upkeep, 'stats'),
  prune: command('deletes old events and deliveries', upkeep, 'prune'),
  reseal: command('encrypts webhook secrets with a new key', upkeep, 'reseal')
}

/** Describes every command. */
export function describeProgram (): string[] {
  const rows = Object.entries(commands).map(([name, { about }]) => [`  ${name}`, about])
  const more = `${program} COMMAND --help shows the options of a command. Exit codes: 0 done, 1 rejected or a problem found, 2 wrong usage.`
  return [`usage: ${program} COMMAND [OPTIONS]`, '', ...formatTable(rows), '', more]
}

/** Describes a command in a line. */
export function describeUsage (name: string, { args = [], options = {} }: Usage): string {
  const required = Object.entries(options)
    .filter(([, { isRequired }]) => isRequired)
    .map(([option, { value }]) => `--${option} ${value}`)
  return ['usage:', program, name, ...args, ...required, '[OPTIONS]'].join(' ')
}

/** Describes a command and its options. */
export function describeCommand (name: string, command: Usage): string[] {
  const rows = Object.entries(optionsOf(command)).map(([option, { value, about, variables }]) => [
    `  --${option}${value === null ? '' : ` ${value}`}`,
    variables === undefined ? about : `${about}; or set ${variables.join(' or ')}`
  ])
  return [describeUsage(name, command), '', `${name} ${commands[name]?.about}.`, '', ...formatTable(rows)]
}
