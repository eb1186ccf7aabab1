import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { TObject } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { hashApiKey } from '../keys/api-key.js'
import type { IdempotencyStore } from '../ports/index.js'
import { seal, unseal } from '../shared/sealing.js'
import { Type } from '../shared/typebox.js'
import { logOf } from './log.js'
import { readCaller } from './request.js'
import { badRequest, type ErrorDetail, guardPort, HttpError, toHttpError, type WireErrorCode } from './wire-errors.js'

const header = 'idempotency-key'
const repeatedHeader = 'idempotent-replayed'

/** Longer than any request: a claim lasts this long only if its process died. */
const leaseMs = 120_000
const keepMs = 86_400_000

const IdempotencyKey = Type.Optional(Type.String({
  pattern: '^[!-~]{1,255}$',
  description:
    '1 to 255 visible ASCII characters, unique to this request, such as a UUID. For 24 hours, repeating the request ' +
    `with the same API key changes nothing and returns the first response, with \`${repeatedHeader}: true\`. ` +
    'A different request with this key gets 400. While the first is running, repeats get 409.',
  examples: ['0f4b8c1e-6a53-4c67-9a35-0d7e3b1f2a90']
}))

/** Adds the header to a route's header schema. */
export function withIdempotencyKey (headers: unknown): TObject {
  const declared = headers as TObject | undefined
  return { ...Type.Object({}), ...declared, properties: { ...declared?.properties, [header]: IdempotencyKey } }
}

/** The result of a handler, and the body to send; `undefined` for a response without one. */
export interface Answer {
  payload: unknown
  body: string | undefined
}

type Headers = ReturnType<FastifyReply['getHeaders']>

/** A stored answer: a response, or an error. */
type StoredAnswer =
  | { status: number, headers: Headers, body: string | undefined }
  | { status: number, code: WireErrorCode, details: readonly ErrorDetail[] }

/** Seals text for the storage. `webhookId` is 0, which no webhook has. */
export interface AnswerBox {
  seal (text: string, tenantId: string, webhookId: number): Promise<string>
  open (sealed: string, tenantId: string, webhookId: number): Promise<string>
}

/** Runs a request with `Idempotency-Key` once, and repeats its response. */
export interface Idempotency {
  /** Returns whether routes with this config accept the header. */
  accepts (config: FastifyContextConfig): boolean
  /** Calls `answer`, or returns the answer of an identical earlier request. Rejects with an `HttpError`. */
  answerOnce (request: FastifyRequest, reply: FastifyReply, answer: () => Promise<Answer>): Promise<Answer>
}

/** Without a store, no route accepts the header. Without a box, routes whose responses contain secrets do not. */
export function createIdempotency (unguarded: IdempotencyStore | undefined, box: AnswerBox | null): Idempotency {
  const store = unguarded && guardPort(unguarded)
  const accepts: Idempotency['accepts'] = ({ idempotent }) => {
    return store !== undefined && (idempotent === true || (idempotent === 'sealed' && box !== null))
  }

  return {
    accepts,

    async answerOnce (request, reply, answer) {
      const name = request.headers[header]
      if (name === undefined) return answer()
      if (store === undefined || !accepts(request.routeOptions.config)) throw invalidKey('is not accepted here')
      const { tenantId } = readCaller(request)
      const digest = hashJson([ownerOf(request), name])
      const { method, routeOptions: { url }, params, query, body } = request
      const fingerprint = hashJson([method, url, params, query, body])
      const attempt = { digest, claim: randomUUID() }
      const stored = await store.claim(tenantId, { ...attempt, fingerprint, leaseMs, keepMs })
      if (stored.fingerprint !== fingerprint) throw invalidKey('was used for another request')
      if (stored.answer !== null) return repeat(reply, await open(box, stored.answer, tenantId, digest))
      if (!stored.isClaimed) {
        reply.header('retry-after', 1)
        throw new HttpError('conflict')
      }

      const before = reply.getHeaders()
      let kept: StoredAnswer | null = null
      try {
        const result = await answer()
        kept = { status: reply.statusCode, headers: changesOf(reply.getHeaders(), before), body: result.body }
        return result
      } catch (thrown) {
        const error = toHttpError(thrown)
        kept = { status: error.statusCode, code: error.code, details: error.details }
        throw error
      } finally {
        try {
          if (kept !== null && (reply.sent || !isFinal(kept.status))) kept = null
          await store.save(tenantId, attempt, kept && await close(box, kept, tenantId, digest))
        } catch (err) {
          // The operation is done, so its client still gets the result.
          logOf(request).error({ err }, 'the answer to a request with Idempotency-Key was not stored')
        }
      }
    }
  }
}

function invalidKey (message: string): HttpError {
  return badRequest({ in: 'header', field: header, message })
}

/** Identifies a key by its id, and a session by its token, so that nobody else can read its answers. */
function ownerOf (request: FastifyRequest): string[] {
  const { keyId } = readCaller(request)
  return keyId === null ? ['session', hashApiKey(String(request.headers.authorization))] : ['key', keyId]
}

/** Hashes JSON. The order of members makes no difference. */
function hashJson (value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortMembers)).digest('hex')
}

function sortMembers (_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1))
}

function changesOf (headers: Headers, before: Headers): Headers {
  const changes = Object.entries(headers).filter(([name, value]) => value !== before[name as keyof Headers])
  return Object.fromEntries(changes) as Headers
}

/** Returns whether the same request would get the same answer later. */
function isFinal (status: number): boolean {
  return status < 500 && ![401, 403, 429].includes(status)
}

/** Returns a stored answer, or throws its error. */
function repeat (reply: FastifyReply, stored: StoredAnswer): Answer {
  reply.header(repeatedHeader, 'true')
  if ('code' in stored) throw new HttpError(stored.code, stored.details)
  const { status, headers, body } = stored
  reply.code(status).headers(headers)
  return { payload: body === undefined ? undefined : JSON.parse(body), body }
}

/** Formats an answer for the storage. The box seals only a key, because some services seal just a few kilobytes. */
async function close (
  box: AnswerBox | null, answer: StoredAnswer, tenantId: string, digest: string
): Promise<string> {
  const text = JSON.stringify(answer)
  if (box === null) return text
  const key = randomBytes(32)
  const sealed = seal(key, Buffer.from(text), Buffer.from(digest)).toString('base64')
  return JSON.stringify({ key: await box.seal(key.toString('base64'), tenantId, 0), sealed })
}

async function open (box: AnswerBox | null, text: string, tenantId: string, digest: string): Promise<StoredAnswer> {
  const stored = JSON.parse(text)
  if (stored.sealed === undefined) return stored
  const key = await box?.open(stored.key, tenantId, 0) ?? ''
  const opened = unseal(Buffer.from(key, 'base64'), Buffer.from(stored.sealed, 'base64'), Buffer.from(digest))
  if (opened === null) throw new Error('secretKeys cannot open the answer to a request with Idempotency-Key')
  return JSON.parse(opened.toString())
}
