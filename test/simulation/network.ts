import { createHmac } from 'node:crypto'
import type { AttemptError } from '../../src/core/ports/index.js'
import type { LateSender } from '../../src/core/webhooks/runtime.js'
import type { SendRequest, SendResult } from '../../src/core/webhooks/sending/sender.js'
import type { Random } from './random.js'
import { type Machine, Violation, type World } from './world.js'

/** The weights of endpoint behaviours. `resets` happen before or after the receiver has read the request. */
export const moods = {
  healthy: 10, slow: 3, hangs: 2, error: 3, overloaded: 2, gone: 1, unreachable: 2, resets: 2, blocked: 0.5, cutOff: 1
}
export type Mood = keyof typeof moods

/** A request that an endpoint has read. */
export interface Receipt {
  at: number
  url: string
  eventId: string
  body: string
  status: number | null
}

/** A request, and its result; `null` while it is in flight. */
export interface Sent {
  machine: Machine
  request: SendRequest
  at: number
  result: SendResult | null
}

type Answer = Pick<SendResult, 'responseStatus' | 'error' | 'retryAfter' | 'ownFault'>

/** Endpoints by URL, and the machines' senders. */
export class Network {
  readonly receipts: Receipt[] = []
  readonly #moods = new Map<string, Mood>()
  readonly #world: World
  readonly #random: Random
  /** Called when a machine sends something. */
  onSend: (sent: Sent) => void = () => {}
  /** Called when a machine gets a response. */
  onAnswer: (sent: Sent) => void = () => {}

  constructor (world: World, random: Random) {
    this.#world = world
    this.#random = random
  }

  setMood (url: string, mood: Mood): void {
    this.#moods.set(url, mood)
  }

  healAll (): void {
    for (const url of this.#moods.keys()) this.#moods.set(url, 'healthy')
  }

  /** `concurrency` is the machine's limit of concurrent requests. */
  createSender (machine: Machine, concurrency: number): LateSender {
    const inFlight = new Set<(answer: Answer) => void>()
    machine.concurrency = concurrency
    const sender: LateSender = {
      load: async () => sender,
      send: (request) => new Promise((resolve) => {
        const startedAt = machine.clock.monotonic()
        const sent: Sent = { machine, request, at: this.#world.time, result: null }
        // Messages about a subscription take no places.
        const isDelivery = !String(request.headers['webhook-id']).startsWith('msg_')
        if (isDelivery) {
          machine.inFlight++
          this.onSend(sent)
        }
        const settle = (answer: Answer): void => {
          if (!inFlight.delete(settle)) return
          if (isDelivery) machine.inFlight--
          const result = { ...answer, durationMs: Math.round(machine.clock.monotonic() - startedAt) }
          sent.result = result
          if (answer.error !== null) this.#world.faults++
          if (isDelivery) this.onAnswer(sent)
          resolve(result)
        }
        inFlight.add(settle)
        if (machine.inFlight > concurrency) {
          this.#world.fail(new Violation(`${machine.name} has ${machine.inFlight} requests in flight`))
        }
        const { delayMs, answer } = this.#exchange(request)
        this.#world.after(delayMs, () => machine.deliver(() => settle(answer)))
      }),
      abort () {
        for (const settle of inFlight) settle({ responseStatus: null, error: 'aborted' })
      },
      async close () {}
    }
    return sender
  }

  /** Draws the response to a request, and its delay. */
  #exchange (request: SendRequest): { delayMs: number, answer: Answer } {
    const random = this.#random
    const wayMs = random.integer(1, 40)
    const fail = (error: AttemptError, delayMs = wayMs): { delayMs: number, answer: Answer } =>
      ({ delayMs: Math.min(delayMs, request.timeoutMs), answer: { responseStatus: null, error } })
    const respond = (status: number, delayMs = wayMs, retryAfter?: string): { delayMs: number, answer: Answer } => {
      this.#receive(request, status, Math.min(wayMs, delayMs))
      if (delayMs >= request.timeoutMs) return fail('timeout', request.timeoutMs)
      const error = status >= 200 && status <= 299 ? null : 'http_status'
      return { delayMs, answer: { responseStatus: status, error, ...retryAfter === undefined ? {} : { retryAfter } } }
    }
    switch (this.#moods.get(request.url) ?? 'healthy') {
      case 'healthy': return respond(random.pick([200, 204]))
      case 'slow': return respond(200, random.integer(100, request.timeoutMs * 1.2))
      case 'hangs': return respond(200, request.timeoutMs)
      case 'error': return respond(random.pick([302, 400, 500, 502]))
      case 'overloaded':
        return respond(random.pick([429, 503]), wayMs, random.pick([undefined, '1', '60', '900', 'soon']))
      case 'gone': return respond(410)
      case 'unreachable': return fail(random.pick(['connection', 'tls']))
      case 'blocked': return fail('blocked')
      case 'cutOff': {
        const { delayMs, answer } = fail('connection')
        return { delayMs, answer: { ...answer, ownFault: { cause: 'proxy', reason: 'down' } } }
      }
      case 'resets':
        if (random.chance(0.5)) this.#receive(request, null, wayMs)
        return fail('connection', wayMs * 2)
    }
  }

  #receive ({ url, headers, body }: SendRequest, status: number | null, delayMs: number): void {
    this.#world.after(delayMs, () => {
      const eventId = String(headers['webhook-id'])
      this.receipts.push({ at: this.#world.time, url, eventId, body, status })
      this.#world.log(`${url} gets ${eventId}, answers ${status}`)
    })
  }
}

/** Returns whether the request is signed with exactly these secrets, in this order. */
export function isSigned (
  { headers, body }: Pick<SendRequest, 'headers' | 'body'>,
  secrets: readonly string[]
): boolean {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  })
  return String(headers['webhook-signature']) === expected.join(' ')
}
