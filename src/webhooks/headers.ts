import { Refusal } from '../errors.js'
import type { StoredHeaders } from '../ports/index.js'
import type { SecretBox } from './secrets.js'

/** The headers of a webhook, from names to values. */
export type OwnHeaders = Record<string, string>

/** Names reserved for the request, the signature or a proxy. */
const refused =
  /^(?:webhook-|content-|transfer-|proxy-|http2-|sec-)|^(?:host|connection|keep-alive|te|trailer|upgrade|expect|date|via|user-agent|traceparent|tracestate|baggage)$/

/** Seals headers for the storage; `null` without any. */
export function sealHeaders (
  box: SecretBox,
  headers: OwnHeaders | null,
  tenant: string,
  webhookId: number
): StoredHeaders | null {
  const names = Object.keys(headers ?? {})
  if (names.length === 0) return null
  return { names, sealed: box.seal(JSON.stringify(headers), tenant, webhookId) }
}

/** Throws a `Refusal` for names that would break the request or the signature, and for duplicates. */
export function assertHeaderNames (headers: OwnHeaders | null): void {
  const names = Object.keys(headers ?? {})
  for (const [index, name] of names.entries()) {
    const lower = name.toLowerCase()
    if (refused.test(lower)) throw new Refusal(`headers.${name}`, 'must not be a header that the notification uses')
    if (names.slice(0, index).some((other) => other.toLowerCase() === lower)) {
      throw new Refusal(`headers.${name}`, 'must not be given twice')
    }
  }
}

/** Opens what `sealHeaders` sealed. Throws if no key opens it. */
export function openHeaders (box: SecretBox, sealed: string | null, tenant: string, webhookId: number): OwnHeaders {
  return sealed === null ? {} : JSON.parse(box.open(sealed, tenant, webhookId))
}
