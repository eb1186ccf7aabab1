import { type HttpOptions, type HttpSettings, httpOptions } from '../http/options/api.js'
import { readMcp } from '../mcp/options.js'
import type { AnyRecruitingStorage, Id, KeyLookup, RecruitingStorage } from '../ports/index.js'
import {
  assertOption, type OptionsOf, type SettingsOf, callable, optional, readOptions
} from '../shared/read-options.js'
import type { EventCatalogue } from '../webhooks/events/catalogue.js'
import type { RegisteredEvents } from '../webhooks/recruiting.js'
import {
  type OptionalDefault,
  type RecruitingOptions,
  type RecruitingSettings,
  type SharedOptions,
  recruitingReaders
} from './recruiting.js'
import { readStorage } from './storage.js'

/** The options of the plugin. */
export type RecruitingApiOptions<Events extends EventCatalogue = RegisteredEvents> = ApiOptions &
  OptionalDefault<Events>

/** The doc, type, default and check of each option of agents. */
const mcpOptions = {
  /**
   * Serves an MCP server for the agents of each tenant at `{prefix}/:tenant_slug/mcp`. Needs the package
   * `@modelcontextprotocol/server`. `true` is short for `{}`. Experimental: it follows the specification, and may
   * change in minor versions.
   * @default false
   */
  mcp: readMcp
}

interface ApiOptions extends SharedOptions, HttpOptions, OptionsOf<typeof mcpOptions> {
  /** The storage of everything, including candidates and jobs. */
  storage: AnyRecruitingStorage
}

/** The settings of the plugin. */
interface ApiSettings extends RecruitingSettings, HttpSettings, SettingsOf<typeof mcpOptions> {
  storage: RecruitingStorage<Id, Id, Id, Id>
}

/** The settings of `createRecruiting`, which knows the addresses of the API. */
interface StandaloneSettings extends RecruitingSettings, Pick<HttpSettings, 'prefix'> {}

const keyLookup = callable<KeyLookup>()
const readers = { ...recruitingReaders, ...httpOptions, ...mcpOptions }

/** Checks the options of the plugin. Throws `invalid_option`. */
export function readApiOptions (options: RecruitingApiOptions): ApiSettings {
  const { logger } = options as { logger?: unknown }
  assertOption(logger === undefined, 'logger', 'none, because the plugin logs with app.log', logger)
  // Two options belong to Fastify's `register`.
  return readOptions(options, { ...readers, storage: readStorage, keyLookup, logLevel: ignore, logSerializers: ignore })
}

/** Checks the options of `createRecruiting`, which may be those of the plugin. Throws `invalid_option`. */
export function readRecruitingOptions (options: RecruitingOptions): StandaloneSettings {
  return readOptions(options, { ...readers, keyLookup: optional(keyLookup), logger: ignore })
}

function ignore (): void {}
