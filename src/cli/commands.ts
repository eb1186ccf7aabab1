import { type Command, type LocalCommand, program, type Usage } from './command.js'
import { optionsOf } from './flags.js'
import { formatTable } from './terminal.js'

/** A command by its name. */
export interface CommandEntry {
  about: string
  load (): Promise<Command | LocalCommand>
}

/** Every command. Each is imported when it runs, so that the others cost no time. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  demo: { about: 'runs a small ATS on this machine, in memory', load: async () => (await import('./demo.js')).demo },
  init: {
    about: 'creates an ATS with the API, the portal and tests in a new folder',
    load: async () => (await import('./init.js')).init
  },
  migrate: { about: 'creates the tables, or updates them', load: async () => (await import('./upkeep.js')).migrate },
  grants: {
    about: 'shows or grants the privileges that your servers and workers need',
    load: async () => (await import('./rights.js')).grants
  },
  watch: { about: 'records the changes of a table for sync', load: async () => (await import('./upkeep.js')).watch },
  doctor: {
    about: 'finds problems and says how to fix them',
    load: async () => (await import('./doctor/doctor.js')).doctor
  },
  'keys issue': { about: 'issues an API key', load: async () => (await import('./keys.js')).issue },
  'keys list': { about: 'lists the API keys of a tenant', load: async () => (await import('./keys.js')).list },
  'keys rotate': {
    about: 'replaces an API key; the old one stays valid for a while',
    load: async () => (await import('./keys.js')).rotate
  },
  'keys revoke': { about: 'revokes an API key immediately', load: async () => (await import('./keys.js')).revoke },
  'webhooks list': {
    about: 'lists the webhooks of a tenant, or of all tenants',
    load: async () => (await import('./webhooks.js')).list
  },
  'webhooks failing': {
    about: 'lists webhooks of all tenants that fail or are disabled',
    load: async () => (await import('./webhooks.js')).failing
  },
  'webhooks show': { about: 'shows a webhook and its health', load: async () => (await import('./webhooks.js')).show },
  'webhooks enable': { about: 'activates a webhook', load: async () => (await import('./webhooks.js')).enable },
  'webhooks disable': { about: 'deactivates a webhook', load: async () => (await import('./webhooks.js')).disable },
  'webhooks delete': { about: 'deletes a webhook', load: async () => (await import('./webhooks.js')).remove },
  'webhooks disable-all': {
    about: 'deactivates the webhooks of a tenant, or of all tenants',
    load: async () => (await import('./webhooks.js')).disableAll
  },
  'webhooks delete-all': {
    about: 'deletes the webhooks of a tenant, or of all tenants',
    load: async () => (await import('./webhooks.js')).removeAll
  },
  'webhooks test': { about: 'sends a test notification', load: async () => (await import('./webhooks.js')).test },
  'webhooks import': {
    about: 'creates webhooks with the secrets that their receivers know',
    load: async () => (await import('./import.js')).importWebhooks
  },
  'deliveries list': {
    about: 'lists the latest deliveries of a webhook',
    load: async () => (await import('./deliveries.js')).list
  },
  'deliveries show': {
    about: 'shows a delivery and its attempts',
    load: async () => (await import('./deliveries.js')).show
  },
  'deliveries retry': { about: 'attempts a delivery again', load: async () => (await import('./deliveries.js')).retry },
  replay: { about: 'sends past events to a webhook again', load: async () => (await import('./deliveries.js')).replay },
  listen: {
    about: 'shows the events of a tenant and sends them to a receiver on your machine',
    load: async () => (await import('./listen.js')).listen
  },
  trigger: {
    about: 'sends a test event to a webhook or to a receiver on your machine',
    load: async () => (await import('./trigger.js')).trigger
  },
  'subjects find': {
    about: 'lists who received data about a person, as JSON lines',
    load: async () => (await import('./subjects.js')).find
  },
  'tenants rename': {
    about: 'renames a tenant, with its webhooks, keys and events',
    load: async () => (await import('./tenants.js')).rename
  },
  'tenants remove': {
    about: 'deletes a tenant, with its webhooks, keys and events',
    load: async () => (await import('./tenants.js')).remove
  },
  'tenants use-ids': {
    about: 'moves all data from slugs to ids, for the option tenantId',
    load: async () => (await import('./tenant-ids.js')).useIds
  },
  adopt: {
    about: 'lets a copy of the database send notifications',
    load: async () => (await import('./upkeep.js')).adopt
  },
  stats: { about: 'shows the state of the queue', load: async () => (await import('./upkeep.js')).stats },
  prune: { about: 'deletes old events and deliveries', load: async () => (await import('./upkeep.js')).prune },
  reseal: { about: 'encrypts webhook secrets with a new key', load: async () => (await import('./upkeep.js')).reseal }
}

/** Describes every command. */
export function describeProgram (): string[] {
  const rows = Object.entries(commands).map(([name, { about }]) => [`  ${name}`, about])
  const more = `${program} COMMAND --help shows the options of a command. Exit codes: 0 done, 1 rejected or a problem found, 2 wrong usage.`
  return [`usage: ${program} COMMAND [OPTIONS]`, '', ...formatTable(rows), '', more]
}

/** Describes a command in a line. */
export function describeUsage (name: string, { args, options }: Usage): string {
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
