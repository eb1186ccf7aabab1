import type { Command } from './command.js'

/** A command by its name. */
export interface CommandEntry {
  about: string
  load (): Promise<{ command: Command }>
}

/** Every command. Each is imported when it runs, so that the others cost no time. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  migrate: { about: 'creates the tables, or updates them', load: () => import('./upkeep/migrate.js') },
  doctor: { about: 'looks for faults, and says how to mend them', load: () => import('./doctor/doctor.js') },
  'keys issue': { about: 'issues an API key', load: () => import('./keys/issue.js') },
  'keys list': { about: 'lists the API keys of a tenant', load: () => import('./keys/list.js') },
  'keys rotate': { about: 'replaces an API key, which works a while longer', load: () => import('./keys/rotate.js') },
  'keys revoke': { about: 'ends an API key at once', load: () => import('./keys/revoke.js') },
  'webhooks list': { about: 'lists the webhooks of a tenant', load: () => import('./webhooks/list.js') },
  'webhooks failing': { about: 'lists webhooks of all tenants that fail or are disabled', load: () => import('./webhooks/failing.js') },
  'webhooks show': { about: 'shows a webhook and its health', load: () => import('./webhooks/show.js') },
  'webhooks enable': { about: 'makes a webhook active', load: () => import('./webhooks/enable.js') },
  'webhooks disable': { about: 'makes a webhook inactive', load: () => import('./webhooks/disable.js') },
  'webhooks test': { about: 'sends a test notification', load: () => import('./webhooks/test.js') },
  'deliveries list': { about: 'lists the latest deliveries of a webhook', load: () => import('./deliveries/list.js') },
  'deliveries show': { about: 'shows a delivery and its attempts', load: () => import('./deliveries/show.js') },
  'deliveries retry': { about: 'attempts a delivery again', load: () => import('./deliveries/retry.js') },
  replay: { about: 'sends past events to a webhook again', load: () => import('./deliveries/replay.js') },
  'tenants rename': { about: 'gives everything of a tenant to another name', load: () => import('./tenants/rename.js') },
  'tenants remove': { about: 'deletes everything of a tenant', load: () => import('./tenants/remove.js') },
  stats: { about: 'shows the figures of the queue', load: () => import('./upkeep/stats.js') },
  prune: { about: 'deletes old events and deliveries', load: () => import('./upkeep/prune.js') },
  reseal: { about: 'encrypts webhook secrets with a new key', load: () => import('./upkeep/reseal.js') }
}
