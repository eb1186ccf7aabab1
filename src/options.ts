import { type HttpOptions, type HttpSettings, httpOptions } from './core/http/options.js'
import { readMcp } from './around/mcp/options.js'
import type { AnyRecruitingStorage, Id, KeyLookup, RecruitingStorage } from './core/ports/index.js'
import { readPortal } from './around/portal/options.js'
import {
  type OptionsOf, type SettingsOf, assertOption, callable, optional, readOptions, readPublicUrl
} from './core/shared/read-options.js'
import { readEventStorage, readStorage } from './core/shared/read-storage.js'
import {
  type DefaultEvents, type EventCatalogue, type RegisteredEvents, readEvents
} from './core/api/catalogue.js'
import { type EngineOptions, type EngineSettings, engineOptions } from './core/webhooks/options.js'
import { omitUndefined, readField } from './core/shared/fields.js'
import type { Logger } from './core/observe/logger.js'
import type { Engine } from './core/webhooks/engine.js'
import type { Recruiting, StandaloneRecruiting } from './recruiting.js'

/*
 * The options of the plugin and of `createRecruiting`. Each part declares its own: one table per options object, with
 * the doc, type, range, default and check of each option. Hosts pass `...Options`; `...Settings` are the checked values
 * with their defaults.
 */

/** The options of `createRecruiting`, which the plugin also accepts. */
export type RecruitingOptions<Events extends EventCatalogue = EventCatalogue> = SharedOptions & OptionalDefault<Events>

interface EventsOption<Events extends EventCatalogue> {
  /**
   * The events this host emits: a map from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to TypeBox
   * objects (0.34 or 1.x) for their `data`. In TypeScript, the plugin expects the catalogue that `Register` names.
   * @default defaultEvents
   */
  events: Events
}

/** Required if `Register` names a catalogue: otherwise `emit` would reject events that compile. */
type OptionalDefault<Events extends EventCatalogue> = DefaultEvents extends Events
  ? Partial<EventsOption<Events>>
  : EventsOption<Events>

const sharedOptions = {
  /**
   * A page at `{prefix}/portal/` where a tenant's team manages its webhooks, and `portal.createSession`, which creates
   * sessions for the team. `createRecruiting` only provides the latter.
   * @default none
   */
  portal: readPortal,
  /**
   * The server's address for clients, such as `https://api.example.com`, without query and fragment. If a proxy removes
   * a path prefix, include it: `https://example.com/ats`. `Link`, `Location`, the URLs of portal sessions and the
   * `servers` of the document begin with it.
   * @default none: these are paths on this server
   */
  publicUrl: readPublicUrl
}

/** The options of the engine and the portal. */
interface SharedOptions extends EngineOptions, OptionsOf<typeof sharedOptions> {}

/** The settings of the engine and the portal. */
interface RecruitingSettings extends EngineSettings, SettingsOf<typeof sharedOptions> {}

const recruitingReaders = { storage: readEventStorage, events: readEvents, ...engineOptions, ...sharedOptions }

/** The options of the plugin. */
export type RecruitingApiOptions<Events extends EventCatalogue = RegisteredEvents> = ApiOptions &
  OptionalDefault<Events>

/** The property of `createRecruiting`'s result that contains the parts which the plugin needs. */
export const kParts = Symbol.for('fastify-recruiting-api.parts')

/** The parts of an engine that `createRecruiting` has created. */
export interface EngineParts {
  /** As given to `createRecruiting`. */
  options: object
  engine: Engine
  recruiting: Recruiting
  /** Logs with this logger unless the host passed one, and makes URLs of portal sessions with this path. */
  attach (log: Logger, prefix: string): void
}

const apiOptions = {
  /**
   * The result of `createRecruiting`, for dependency injection: your services get it before the server exists. Its
   * options apply. Options that only the plugin uses, such as `keyLookup`, can be given to either. Closing the server
   * closes it.
   * @default the plugin creates its own engine
   */
  recruiting (value: Pick<StandaloneRecruiting<EventCatalogue>, 'close' | 'health'> | null = null, path: string) {
    const parts = value === null ? null : readField(value, kParts) as EngineParts | undefined
    assertOption(parts !== undefined, path, 'the result of createRecruiting', value)
    return parts
  },
  /**
   * Serves an MCP server for the agents of each tenant at `{prefix}/:tenant_slug/mcp`. Needs the package
   * `@modelcontextprotocol/server`. `true` is short for `{}`. Experimental: it follows the specification, and may
   * change in minor versions.
   * @default false
   */
  mcp: readMcp
}

interface ApiOptions extends SharedOptions, HttpOptions, OptionsOf<typeof apiOptions> {
  /** The storage of everything, including candidates and jobs. */
  storage: AnyRecruitingStorage
}

/** The options that only the plugin uses. `createRecruiting` checks and keeps them for it. */
export interface PluginOptions extends Partial<HttpOptions>, Omit<OptionsOf<typeof apiOptions>, 'recruiting'> {}

/** The options of the plugin for an engine that `createRecruiting` has created. */
export interface InjectedOptions extends PluginOptions {
  recruiting: NonNullable<OptionsOf<typeof apiOptions>['recruiting']>
}

/** The settings of the plugin. */
interface ApiSettings extends RecruitingSettings, HttpSettings, SettingsOf<typeof apiOptions> {
  storage: RecruitingStorage<Id, Id, Id, Id>
}

/** The settings of `createRecruiting`, including the prefix of the API. */
interface StandaloneSettings extends RecruitingSettings, Pick<HttpSettings, 'prefix'> {}

const keyLookup = callable<KeyLookup>()

const readers = { ...recruitingReaders, ...httpOptions, ...apiOptions }

/** Checks the options of the plugin. Throws `invalid_option`. */
export function readApiOptions (options: RecruitingApiOptions | InjectedOptions): ApiSettings {
  const { logger } = options as { logger?: unknown }
  assertOption(logger === undefined, 'logger', 'none, because the plugin logs with app.log', logger)
  const parts = apiOptions.recruiting(options.recruiting, 'recruiting')
  for (const name of parts === null ? [] : Object.keys(recruitingReaders)) {
    const value: unknown = Reflect.get(options, name)
    assertOption(value === undefined, name, 'none, because the option recruiting has its own', value)
  }
  // Also the names of undefined options are checked.
  return readOptions({ ...options, ...parts?.options, ...omitUndefined(options) }, {
    ...readers,
    storage: readStorage,
    keyLookup,
    // They belong to Fastify's `register`.
    logLevel: ignore,
    logSerializers: ignore
  })
}

/** Checks the options of `createRecruiting`, which also accepts those of the plugin. Throws `invalid_option`. */
export function readRecruitingOptions (options: RecruitingOptions): StandaloneSettings {
  return readOptions(options, { ...readers, keyLookup: optional(keyLookup), logger: ignore, recruiting: none })
}

function none (value: unknown, path: string): null {
  assertOption(value === undefined, path, 'none, because only the plugin takes one', value)
  return null
}

function ignore (): void {}
