import { type OptionsOf, type SettingsOf, readPublicUrl } from '../shared/read-options.js'
import { readPortal } from '../portal/options.js'
import type { DefaultEvents, EventCatalogue } from '../webhooks/events/catalogue.js'
import { type EngineOptions, type EngineSettings, engineOptions } from '../webhooks/options/engine.js'
import { readEvents } from './events.js'
import { readEventStorage } from './storage.js'

/** The options of `createRecruiting`, which the plugin takes as well. */
export type RecruitingOptions<Events extends EventCatalogue = EventCatalogue> = SharedOptions & OptionalDefault<Events>

interface EventsOption<Events extends EventCatalogue> {
  /**
   * The events this host emits: from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to the TypeBox
   * objects (0.34 or 1.x) of their `data`. In TypeScript, the plugin takes the catalogue that `Register` names.
   * @default defaultEvents
   */
  events: Events
}

/** Required if `Register` names a catalogue: otherwise `emit` would refuse events that compile. */
export type OptionalDefault<Events extends EventCatalogue> = DefaultEvents extends Events
  ? Partial<EventsOption<Events>>
  : EventsOption<Events>

/** The doc, type, default and check of each option besides those of the engine. */
const sharedOptions = {
  /**
   * A page at `{prefix}/portal/` where a tenant's team manages its webhooks, and `portal.createSession`, which creates
   * sessions for the team. `createRecruiting` has only the latter.
   * @default none
   */
  portal: readPortal,
  /**
   * The address of the server as clients know it, such as `https://api.example.com`, without query and fragment. If a
   * proxy removes a prefix of the path, include it: `https://example.com/ats`. `Link`, `Location`, the URLs of portal
   * sessions and the `servers` of the document begin with it.
   * @default none: these are paths, as the server sees them
   */
  publicUrl: readPublicUrl
}

/** The options of the engine and the portal. */
export interface SharedOptions extends EngineOptions, OptionsOf<typeof sharedOptions> {}

/** The settings of the engine and the portal. */
export interface RecruitingSettings extends EngineSettings, SettingsOf<typeof sharedOptions> {}

/** The check of each option. */
export const recruitingReaders = { storage: readEventStorage, events: readEvents, ...engineOptions, ...sharedOptions }
