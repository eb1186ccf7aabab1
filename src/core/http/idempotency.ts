import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { TObject } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { hashApiKey } from '../keys/api-key.js'
import type { Clock, IdempotencyStore, IdempotentRequest } from '../ports/index.js'
import type { KeepAnswer } from '../shared/answers.js'
import { LruMap } from '../shared/cached.js'
import { readField } from '../shared/fields.js'
import { seal, unseal } from '../shared/sealing.js'
import { Type } from '../shared/typebox.js'
import { logOf } from './log.js'
import { readCaller, stateOf } from './request.js'
import { badRequest, guardPort, hasCode, HttpError, readHttpError, toHttpError } from './wire-errors.js'

const header = 'idempotency-key'
const repeatedHeader = 'idempotent-replayed'

/** After that, the outcome of a request whose process died is unknown. */
const leaseMs = 30_000
const renewMs = 10_000
const keepMs = 86_400_000
/** How often and how long saving an answer is tried. Until it is saved, repeats get 409 or an unknown outcome. */
const saves = { tries: 3, ms: 2000 }
const maxDigests = 4096
/** How long answers are sealed with the same key. */
const sealMs = 300_000

const IdempotencyKey = Type.Optional(Type.String({
  pattern: '^[!-~]{1,255}$',
  description:
    '1 to 255 visible ASCII characters, unique to this request, such as a UUID. For 24 hours, repeating the request ' +
    'with the same API key changes nothing and returns the first successful response, with ' +
    `\`${repeatedHeader}: true\`. ` +
    'A different request with this key gets 400. While the first is running, repeats get 409.',
  examples: ['0f4b8c1e-6a53-4c67-9a35-0d7e3b1f2a90']
}))

/** A header of successful responses, for the document. */
export const repeatedHeaders = {
  [repeatedHeader]: Type.Literal('true', {
    description: 'Present if the response repeats that of an earlier request with the same `Idempotency-Key`'
  })
}

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

export interface Handling {
  run (): unknown
  /** Returns the body for a result of `run`. */
  format (payload: unknown): string | undefined
  /** Whether the storage stores the answer with the work, if it gets one from `keep` of the request's state. */
  isAtomic: boolean
  isOfHost: boolean
}

type Headers = ReturnType<FastifyReply['getHeaders']>

/** A stored response; `null` if the outcome of the request is unknown. */
type StoredAnswer = { status: number, headers: Headers, body: string | undefined } | null

/** Seals text for the storage. `webhookId` is 0, which no webhook has. */
interface AnswerBox {
  seal (text: string, tenantId: string, webhookId: number): Promise<string>
  open (sealed: string, tenantId: string, webhookId: number): Promise<string>
}

export type Idempotency = ReturnType<typeof createIdempotency>

/** A claimed request. */
interface Attempt extends Pick<IdempotentRequest, 'digest' | 'claim'> {
  request: FastifyRequest
  reply: FastifyReply
  handling: Handling
  /** Formats an answer for the storage. */
  close (answer: StoredAnswer): string
  /**
   * Stores an answer; `null` lets the request run again. Returns `false` if it has an answer or another attempt has
   * claimed it, and if storing fails several times. Never rejects.
   */
  save (answer: string | null): Promise<boolean>
}

/**
 * Runs a request with `Idempotency-Key` once, and repeats its response. Without a store, no route accepts the header.
 * Without a box, routes whose responses contain secrets do not.
 */
export function createIdempotency (unguarded: IdempotencyStore | undefined, box: AnswerBox | null, clock: Clock) {
  const store = unguarded && guardPort(unguarded)
  const answers = createAnswerBox(box, clock)
  /** The fingerprints of this process's running requests. */
  const running = new Map<string, string>()

  /** Returns whether routes with this config accept the header. */
  function accepts ({ idempotent }: FastifyContextConfig): boolean {
    return store !== undefined && (idempotent === true || (idempotent === 'sealed' && box !== null))
  }

  async function answerOnce (
    store: IdempotencyStore, request: FastifyRequest, reply: FastifyReply, handling: Handling,
    { digest, fingerprint }: Pick<IdempotentRequest, 'digest' | 'fingerprint'>
  ): Promise<Answer> {
    const { tenantId } = readCaller(request)
    const close = await answers.prepare(tenantId, digest)
    const claimed = { digest, claim: randomUUID() }
    async function save (answer: string | null): Promise<boolean> {
      const until = clock.monotonic() + saves.ms
      for (let tries = 1; ; tries++) {
        try {
          return await store.save(tenantId, claimed, answer)
        } catch (err) {
          if (tries < saves.tries && clock.monotonic() < until) continue
          logOf(request).error({ err }, 'the outcome of a request with Idempotency-Key was not stored')
          return false
        }
      }
    }

    let found
    try {
      found = await store.claim(tenantId, {
        ...claimed, fingerprint, isAtomic: handling.isAtomic, leaseMs, keepMs, maxDigests
      })
    } catch (error) {
      // The claim may have been stored, unless it got no place.
      if (!hasCode(error, 'busy')) await save(null)
      throw error
    }
    if (found.state === 'full') {
      reply.header('retry-after', Math.max(1, Math.ceil(found.waitMs / 1000)))
      throw new HttpError('rate_limited')
    }
    const attempt: Attempt = { ...claimed, request, reply, handling, close, save }
    if (found.state === 'claimed') {
      return handling.isAtomic ? runAtomic(attempt) : runLeased(attempt, startRenewing(store, tenantId, attempt, clock))
    }
    if (found.fingerprint !== fingerprint) throw usedOtherwise()
    if (found.state === 'running') throw conflict(reply)
    const stored = found.state === 'answered' ? await answers.open(found.answer, tenantId, digest) : null
    if (stored === null) throw new HttpError('outcome_unknown')
    stateOf(request).isRepeated = true
    const { status, headers, body } = stored
    reply.code(status).headers(headers).header(repeatedHeader, 'true')
    return { payload: body === undefined ? undefined : JSON.parse(body), body }
  }

  return {
    accepts,

    /** Runs the handler, or returns the answer of an identical earlier request. */
    async answer (request: FastifyRequest, reply: FastifyReply, handling: Handling): Promise<Answer> {
      const name = request.headers[header]
      if (name === undefined) return run(reply, handling)
      const { method, routeOptions: { config, url }, params, query, body } = request
      if (!config.idempotent) return run(reply, handling)
      if (store === undefined || !accepts(config)) throw invalidKey('is not accepted here')
      const digest = hashJson([ownerOf(request), name])
      const fingerprint = hashJson([method, url, params, query, body])
      const place = `${digest} ${readCaller(request).tenantId}`
      const earlier = running.get(place)
      if (earlier !== undefined) throw earlier === fingerprint ? conflict(reply) : usedOtherwise()
      running.set(place, fingerprint)
      try {
        return await answerOnce(store, request, reply, handling, { digest, fingerprint })
      } finally {
        running.delete(place)
      }
    }
  }
}

async function run (reply: FastifyReply, { run, format }: Handling): Promise<Answer> {
  const payload: unknown = await run()
  // A host handler may already have called `reply.send`.
  return { payload, body: reply.sent ? undefined : format(payload) }
}

/**
 * Runs an operation whose storage stores the answer with the work. An attempt without an answer has changed nothing, so
 * another one can always take over.
 */
async function runAtomic ({ request, reply, handling, close, save, ...claimed }: Attempt): Promise<Answer> {
  const describe = describeAnswers(reply)
  let isExpected = false
  let isFormatted = false
  stateOf(request).keep = (respond): KeepAnswer => (show) => {
    isExpected = true
    return {
      ...claimed,
      format (stored) {
        isFormatted = true
        return close(describe(handling.format(respond(show(stored)))))
      }
    }
  }
  try {
    const answer = await run(reply, handling)
    // A storage of the host may not pass on the argument.
    if (!isFormatted) await save(isExpected ? close(describe(answer.body)) : null)
    return answer
  } catch (thrown) {
    // Keeps an answer that was stored.
    const isOwn = await save(null)
    const { statusCode } = toHttpError(thrown)
    // Another attempt has taken over before this one could change anything, or has done the work.
    throw hasCode(thrown, 'idempotency_conflict') || (!isOwn && statusCode < 500) ? conflict(reply) : thrown
  }
}

/** Runs any other handler. If it fails, it may have changed something. */
async function runLeased ({ request, reply, handling, close, save }: Attempt, stop: () => void): Promise<Answer> {
  const describe = describeAnswers(reply)
  const unknown = close(null)
  try {
    const answer = await run(reply, { ...handling, run: () => catchSend(reply, handling.run) })
    if (reply.sent) {
      logOf(request).error({}, 'a route with config.idempotent has sent its response itself')
      await save(unknown)
    } else if (reply.statusCode < 400) await save(close(describe(answer.body)))
    else await save(hasChangedNothing(reply.statusCode) ? null : unknown)
    return answer
  } catch (thrown) {
    const isSure = !handling.isOfHost || readHttpError(thrown) !== null
    await save(isSure && hasChangedNothing(toHttpError(thrown).statusCode) ? null : unknown)
    throw thrown
  } finally {
    stop()
  }
}

/** Returns whether a response with this status says that nothing has changed. */
function hasChangedNothing (status: number): boolean {
  return status === 503 || (status >= 400 && status < 500)
}

/** Returns a function that describes the response, with the headers that were added since. */
function describeAnswers (reply: FastifyReply): (body: string | undefined) => StoredAnswer {
  const before = reply.getHeaders()
  return (body) => {
    const added = Object.entries(reply.getHeaders()).filter(([name, value]) => value !== before[name as keyof Headers])
    return { status: reply.statusCode, headers: Object.fromEntries(added) as Headers, body }
  }
}

/** Extends the lease of an attempt until the returned function is called. */
function startRenewing (
  store: IdempotencyStore, tenantId: string, { digest, claim, request }: Attempt, clock: Clock
): () => void {
  let timer: unknown
  let isOver = false
  const warn = (err: unknown): void => logOf(request).warn({ err }, 'a request with Idempotency-Key was not renewed')
  function plan (): void {
    if (isOver) return
    timer = clock.setTimeout(() => {
      store.renew(tenantId, { digest, claim, leaseMs }).catch(warn).finally(plan)
    }, renewMs)
  }
  plan()
  return () => {
    isOver = true
    clock.clearTimeout(timer)
  }
}

/** Returns what a handler sends or returns, without sending it: what it sends itself could not be stored. */
async function catchSend (reply: FastifyReply, run: () => unknown): Promise<unknown> {
  let isSent = false
  let keep: (payload: unknown) => void = () => {}
  const kept = new Promise<unknown>((resolve) => { keep = resolve })
  Object.assign(reply, {
    send (payload: unknown) {
      isSent = true
      keep(payload)
      return reply
    },
    // A handler that returns the reply waits for its response, unless it has hijacked it.
    then (resolve: () => void) {
      const resolveIfSent = (): void => { if (reply.sent) resolve() }
      kept.then(resolve, resolve)
      reply.raw.once('close', resolveIfSent)
      resolveIfSent()
    }
  })
  try {
    const returned: unknown = await run()
    const payload = isSent ? await kept : returned
    if (payload instanceof Error) throw payload
    const isData = payload === undefined || (typeof payload === 'object' && !isBinary(payload))
    if (isSent && !isData) {
      throw new TypeError('a route with config.idempotent must send JSON data, not text or a stream')
    }
    return payload
  } finally {
    for (const name of ['send', 'then']) Reflect.deleteProperty(reply, name)
  }
}

function isBinary (payload: unknown): boolean {
  const isStream = ['pipe', 'getReader', 'arrayBuffer'].some((name) => typeof readField(payload, name) === 'function')
  return isStream || payload instanceof Uint8Array
}

function invalidKey (message: string): HttpError {
  return badRequest({ in: 'header', field: header, message })
}

function usedOtherwise (): HttpError {
  return invalidKey('was used for another request')
}

function conflict (reply: FastifyReply): HttpError {
  reply.header('retry-after', 1)
  return new HttpError('conflict')
}

/** Identifies a key by its id, and a session by its token, so that nobody else can read its answers. */
function ownerOf (request: FastifyRequest): string[] {
  const { keyId, actor } = readCaller(request)
  if (actor !== null) return ['session', hashApiKey(String(request.headers.authorization))]
  if (typeof keyId === 'string' && keyId !== '') return ['key', keyId]
  throw invalidKey('is not accepted, because the key lookup returns no id for this API key')
}

/** Hashes JSON. The order of members makes no difference. */
function hashJson (value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortMembers)).digest('hex')
}

function sortMembers (_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1))
}

interface SealingKey {
  key: Buffer
  sealed: Promise<string>
  endsAtMs: number
}

/**
 * Seals answers for the storage. The box seals only keys, one for a tenant's answers of some minutes: some services
 * seal just a few kilobytes, and take long.
 */
function createAnswerBox (box: AnswerBox | null, clock: Clock) {
  const keys = new LruMap<SealingKey>(1000)

  function findKey (box: AnswerBox, tenantId: string): SealingKey {
    const now = clock.monotonic()
    const known = keys.get(tenantId)
    if (known !== undefined && now < known.endsAtMs) return known
    const key = randomBytes(32)
    const created = { key, sealed: box.seal(key.toString('base64'), tenantId, 0), endsAtMs: now + sealMs }
    keys.set(tenantId, created)
    created.sealed.catch(() => {
      if (keys.get(tenantId) === created) keys.delete(tenantId)
    })
    return created
  }

  return {
    /** Returns a function that seals answers to a request. */
    async prepare (tenantId: string, digest: string): Promise<Attempt['close']> {
      if (box === null) return (answer) => JSON.stringify({ answer })
      const { key, sealed } = findKey(box, tenantId)
      const sealedKey = await sealed
      return (answer) => {
        const text = seal(key, Buffer.from(JSON.stringify(answer)), Buffer.from(digest)).toString('base64')
        return JSON.stringify({ key: sealedKey, sealed: text })
      }
    },

    async open (text: string, tenantId: string, digest: string): Promise<StoredAnswer> {
      const { answer, key: sealedKey, sealed } = JSON.parse(text)
      if (sealed === undefined) return answer
      const key = await box?.open(sealedKey, tenantId, 0) ?? ''
      const opened = unseal(Buffer.from(key, 'base64'), Buffer.from(sealed, 'base64'), Buffer.from(digest))
      if (opened === null) throw new Error('secretKeys cannot open the answer to a request with Idempotency-Key')
      return JSON.parse(opened.toString())
    }
  }
}
