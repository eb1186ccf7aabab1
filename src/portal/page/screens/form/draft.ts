import type { PortalMessages } from '../../../messages/types.js'
import { type Failure, messageFor } from '../../api/failure.js'
import type { UpdateWebhook, Webhook } from '../../api/types.js'

/** A webhook as the form has it. */
export interface Draft {
  name: string
  targetUrl: string
  eventTypes: readonly string[]
}

/** Something wrong with a field: a text of the page. */
type Fault = keyof PortalMessages['form']['faults']

/** By field. */
type Faults = { [Field in keyof Draft]?: Fault | undefined }

/**
 * Checks everything that holds for every vendor. The API decides about the rest: some vendors allow http and private names
 * for development. `offered` are the event types of the catalogue, if it is there.
 */
export function checkDraft ({ name, targetUrl, eventTypes }: Draft, offered: ReadonlySet<string> | null): Faults {
  return {
    name: name.trim() === '' ? 'nameBlank' : undefined,
    targetUrl: urlFault(targetUrl.trim()),
    eventTypes: eventsFault(eventTypes, offered)
  }
}

function urlFault (text: string): Fault | undefined {
  if (text === '') return 'urlBlank'
  const url = parse(text)
  if (url === null || url.hostname === '' || /\s/.test(text)) return 'urlInvalid'
  if (!/^https?:$/.test(url.protocol)) return 'urlHttps'
  return text.includes('#') || url.username !== '' || url.password !== '' ? 'urlParts' : undefined
}

function eventsFault (eventTypes: readonly string[], offered: ReadonlySet<string> | null): Fault | undefined {
  if (eventTypes.length === 0) return 'eventsNone'
  return offered === null || eventTypes.every((name) => offered.has(name)) ? undefined : 'eventsGone'
}

/** Explains why the API refused an address, as far as it can be seen. */
export function explainRefusal (targetUrl: string): Fault | undefined {
  const url = parse(targetUrl.trim())
  if (url?.protocol === 'http:') return 'urlHttps'
  return /^\[|^[\d.]+$|^[^.]+$|\.(local|localhost|internal)$/.test(url?.hostname ?? '') ? 'urlPublic' : undefined
}

/** Finds what a refused request says about each field: in the language of the page if the reason can be seen, otherwise as the API says it. */
export function readRefusal (failure: Failure | null, draft: Draft, textOf: (fault: Fault) => string): { [Field in keyof Draft]: string | null } {
  if (failure?.code !== 'bad_request') return { name: null, targetUrl: null, eventTypes: null }
  const said = messageFor(failure, 'target_url')
  const seen = said === null && failure.details.length > 0 ? undefined : explainRefusal(draft.targetUrl)
  return {
    name: messageFor(failure, 'name'),
    targetUrl: seen === undefined ? said : textOf(seen),
    eventTypes: messageFor(failure, 'event_types')
  }
}

/** Whether something differs, other than the order of the events. */
export function isChanged (draft: Draft, from: Draft): boolean {
  return draft.name !== from.name || draft.targetUrl !== from.targetUrl || differs(draft.eventTypes, from.eventTypes)
}

/** Returns the fields to send: only those that differ, so that nobody else's changes are undone. */
export function changesOf ({ name, targetUrl, eventTypes }: Draft, webhook: Webhook): UpdateWebhook {
  return {
    ...(name.trim() === webhook.name ? {} : { name: name.trim() }),
    ...(targetUrl.trim() === webhook.target_url ? {} : { target_url: targetUrl.trim() }),
    ...(differs(eventTypes, webhook.event_types) ? { event_types: [...eventTypes] } : {})
  }
}

function differs (one: readonly string[], other: readonly string[]): boolean {
  return one.length !== other.length || one.some((name) => !other.includes(name))
}

function parse (text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
