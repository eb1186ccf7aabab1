import type { Logger } from '../observe/logger.js'
import type { Clock, StoredHeaders, StoredSecrets, WebhookStore } from '../ports/index.js'
import { withinTime } from '../shared/clock.js'
import { type SecretContext, type SecretFunctions, type SecretKeys, seal, unseal } from '../shared/sealing.js'
import { InputError } from '../shared/errors.js'
import type { LegacySignature } from '../api/webhooks.js'
import type { LegacyKey } from './sending/signature.js'

export interface SecretBox {
  seal (secret: string, tenantId: string, webhookId: number): Promise<string>
  /** Returns whether a secret is sealed with the first key or the functions, or unsealed if there are neither. */
  isCurrent (sealed: string, tenantId: string, webhookId: number): boolean
  /** Opens a secret. Rejects if it was sealed in another way, or for another tenant or webhook. */
  open (sealed: string, tenantId: string, webhookId: number): Promise<string>
  /** `null` if functions seal. */
  keyBox: KeyBox | null
}

const prefix = 'sealed_v1:'
const hostPrefix = 'sealed_by_host_v1:'

export function isSealed (text: string): boolean {
  return text.startsWith(prefix) || isSealedByHost(text)
}

/** Returns whether the host's functions encrypted a stored text. */
export function isSealedByHost (text: string): boolean {
  return text.startsWith(hostPrefix)
}

export function createSecretBox (secretKeys: SecretKeys, clock: Clock): SecretBox {
  if ('seal' in secretKeys) return createHostBox(secretKeys, clock)
  const keyBox = createKeyBox(secretKeys)
  return {
    keyBox,
    seal: async (...secret) => keyBox.seal(...secret),
    isCurrent: keyBox.isCurrent,
    open: async (...secret) => keyBox.open(...secret)
  }
}

const hostTimeoutMs = 5000

function createHostBox (functions: SecretFunctions, clock: Clock): SecretBox {
  const keyBox = createKeyBox(functions.keys ?? [])

  async function call (name: 'seal' | 'open', bytes: Uint8Array, context: SecretContext): Promise<Buffer> {
    const path = `secretKeys.${name}`
    const result = await withinTime<unknown>(functions[name](bytes, context), hostTimeoutMs, clock, path)
    if (result instanceof Uint8Array && result.length > 0) return Buffer.from(result)
    const got = result === null ? 'null' : 'no bytes'
    throw new Error(`${path} returned ${got} for the secret of webhook ${context.webhookId}`)
  }

  return {
    keyBox: null,
    async seal (secret, tenantId, webhookId) {
      return hostPrefix + (await call('seal', Buffer.from(secret), { tenantId, webhookId })).toString('base64')
    },
    isCurrent: isSealedByHost,
    async open (sealed, tenantId, webhookId) {
      if (!isSealedByHost(sealed)) return keyBox.open(sealed, tenantId, webhookId)
      const bytes = Buffer.from(sealed.slice(hostPrefix.length), 'base64')
      return (await call('open', bytes, { tenantId, webhookId })).toString('utf8')
    }
  }
}

export type KeyBox = ReturnType<typeof createKeyBox>

/** Uses AES-256-GCM and keys of 32 bytes: the first seals, all open. Without keys, secrets stay unsealed. */
export function createKeyBox (keys: readonly Uint8Array[]) {
  return {
    seal (secret: string, tenantId: string, webhookId: number): string {
      const [key] = keys
      if (key === undefined) return secret
      return prefix + seal(key, Buffer.from(secret), owner(tenantId, webhookId)).toString('base64')
    },

    /** Returns whether a secret is sealed with the first key, or unsealed if there are no keys. */
    isCurrent (sealed: string, tenantId: string, webhookId: number): boolean {
      const [key] = keys
      if (key === undefined) return !isSealed(sealed)
      return sealed.startsWith(prefix) && tryOpen(sealed, key, owner(tenantId, webhookId)) !== null
    },

    /** Opens a secret. Throws if it was sealed with an unknown key, or for another tenant or webhook. */
    open (sealed: string, tenantId: string, webhookId: number): string {
      if (!isSealed(sealed)) return sealed
      if (isSealedByHost(sealed)) {
        throw new Error(
          `functions sealed the secret of webhook ${webhookId}: set secretKeys to { seal, open }. Commands cannot ` +
            'open it: call renameTenant, resealSecrets or webhooks.sendTest in your code'
        )
      }
      for (const key of keys) {
        const secret = tryOpen(sealed, key, owner(tenantId, webhookId))
        if (secret !== null) return secret
      }
      throw new Error(
        `none of the secretKeys opens the secret of webhook ${webhookId}: add the key that sealed it. To change keys, begin with [oldKey, newKey]`
      )
    }
  }
}

// Associated data that binds a sealed secret to its webhook, so that a copy in another row cannot be opened.
function owner (tenantId: string, webhookId: number): Buffer {
  return Buffer.from(JSON.stringify([tenantId, webhookId]))
}

function tryOpen (sealed: string, key: Uint8Array, associated: Buffer): string | null {
  const bytes = Buffer.from(sealed.slice(prefix.length), 'base64')
  return unseal(key, bytes, associated)?.toString('utf8') ?? null
}

/** Logs a warning if the first webhook has a plain secret. Never rejects. */
export async function reportPlainSecrets (webhooks: Pick<WebhookStore, 'listSecrets'>, log: Logger): Promise<void> {
  const first = await webhooks.listSecrets({ afterId: 0, limit: 1 }).catch(() => [])
  if (first.every(({ secrets }) => secrets.every(isSealed))) return
  log.warn(
    {},
    'webhook secrets are stored in plain text: set secretKeys in every process, then run fastify-recruiting-api reseal'
  )
}

const batchSize = 100

/** Seals all secrets and headers that are not current. Returns their number. */
export async function resealSecrets (webhooks: WebhookStore, box: SecretBox): Promise<number> {
  let count = 0
  let afterId = 0
  for (;;) {
    const batch = await webhooks.listSecrets({ afterId, limit: batchSize })
    for (const stored of batch) count += await resealOne(webhooks, box, stored)
    const last = batch.at(-1)
    if (last === undefined) return count
    afterId = last.webhookId
  }
}

async function resealOne (
  webhooks: WebhookStore, box: SecretBox, { tenantId, webhookId, secrets, headers }: StoredSecrets
): Promise<number> {
  let count = 0
  for (const from of headers === null ? secrets : [...secrets, headers]) {
    if (box.isCurrent(from, tenantId, webhookId)) continue
    const to = await box.seal(await box.open(from, tenantId, webhookId), tenantId, webhookId)
    if (await webhooks.replaceSecret(tenantId, webhookId, { from, to })) count++
  }
  return count
}

export type OwnHeaders = Record<string, string>

/** The headers of a webhook, and the signature that its receiver verified before it was imported. */
export interface OpenedHeaders {
  own: OwnHeaders
  legacy: LegacyKey | null
}

/** Names reserved for the request, the signature or a proxy. */
const reserved =
  /^(?:webhook-|content-|transfer-|proxy|http2-|sec-)|^(?:host|connection|keep-alive|te|trailer|upgrade|expect|date|via|user-agent|set-cookie|traceparent|tracestate|baggage)$/

interface HeaderTarget {
  tenantId: string
  webhookId: number
  url: string
}

/** Seals headers for the storage, with the origin of the address; `null` without any. */
export async function sealHeaders (
  box: SecretBox, { own, legacy }: OpenedHeaders, { tenantId, webhookId, url }: HeaderTarget
): Promise<StoredHeaders | null> {
  const names = Object.keys(own)
  if (names.length === 0 && legacy === null) return null
  const text = JSON.stringify({ origin: new URL(url).origin, values: own, ...(legacy === null ? {} : { legacy }) })
  return { names, sealed: await box.seal(text, tenantId, webhookId) }
}

/** Throws an `InputError` for names that would break the request or the signature, and for duplicates. */
export function assertHeaderNames (headers: OwnHeaders | null = null, legacy?: LegacySignature): void {
  const fields = [
    ['legacy.header', legacy?.header],
    ['legacy.id_header', legacy?.id_header],
    ['legacy.timestamp_header', legacy?.timestamp_header],
    ...Object.keys(headers ?? {}).map((name) => [`headers.${name}`, name] as const)
  ] as const
  const used = new Set<string>()
  for (const [field, name] of fields) {
    if (name === undefined) continue
    const lower = name.toLowerCase()
    // Receivers of Svix may read its headers with their own code.
    if (reserved.test(lower) || (lower.startsWith('svix-') && field.startsWith('headers.'))) {
      throw new InputError(field, 'must not be a header that the notification uses')
    }
    if (used.has(lower)) throw new InputError(field, 'must not be given twice')
    used.add(lower)
  }
}

/**
 * Opens sealed headers. Returns none of its own if the address has another origin: clients that cannot read the values
 * must not redirect them to their own servers. Rejects if the box cannot open them.
 */
export async function openHeaders (
  box: SecretBox, sealed: string | null, { tenantId, webhookId, url }: HeaderTarget
): Promise<OpenedHeaders> {
  if (sealed === null) return { own: {}, legacy: null }
  const text = await box.open(sealed, tenantId, webhookId)
  const { origin, values, legacy = null } = JSON.parse(text) as
    { origin: string, values: OwnHeaders, legacy?: LegacyKey | null }
  return { own: origin === new URL(url).origin ? values : {}, legacy }
}

const shortestPart = 8

/** Replaces header values in a text with asterisks, including their longer words and a value cut off at the end. */
export function maskHeaders (text: string, headers: OwnHeaders): string {
  const values = Object.values(headers).flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
  const words = values.flatMap((value) => value.split(' ')).filter((word) => word.length >= shortestPart)
  const secrets = [...new Set([...values, ...words])].sort((a, b) => b.length - a.length)
  const masked = secrets.reduce((masked, secret) => masked.replaceAll(secret, '*'.repeat(secret.length)), text)
  for (const secret of secrets) {
    for (let length = secret.length - 1; length >= shortestPart; length--) {
      if (masked.endsWith(secret.slice(0, length))) return masked.slice(0, -length) + '*'.repeat(length)
    }
  }
  return masked
}
