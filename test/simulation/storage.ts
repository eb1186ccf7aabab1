import type { EventStorage, NewEvent } from '../../src/core/ports/index.js'
import type { Random } from './random.js'
import type { Machine, World } from './world.js'

/** An error of the simulated storage. */
export class StorageFault extends Error {}

/** The current quality of the connections to the storage. Probabilities are per call. */
export interface Weather {
  isDown: boolean
  longestMs: number
  failsBefore: number
  losesReply: number
  repeats: number
  losesHint: number
}

/** Called when a machine gets a reply. */
export type OnReply = (method: string, result: unknown) => void

/** Called with each effect on the storage, in order, and awaited. */
export type OnEffect = (
  machine: Machine,
  port: string,
  method: string,
  args: readonly unknown[],
  result: unknown
) => Promise<void>

type Call = (...args: unknown[]) => Promise<unknown>

/** A host's transaction: its effects happen when it commits. */
export class Transaction {
  readonly effects: Array<() => Promise<unknown>> = []
}

/**
 * Returns one machine's view of the storage. Each call takes time. It can fail before it has an effect, lose its reply,
 * or arrive twice.
 */
export function connect (
  storage: EventStorage,
  machine: Machine,
  { world, random, weather, onEffect, onReply }: {
    world: World, random: Random, weather: Weather, onEffect: OnEffect, onReply: OnReply
  }
): EventStorage {
  function wrap<Port extends object> (name: string, port: Port): Port {
    const methods = Object.entries(port).filter(([, value]) => typeof value === 'function') as Array<[string, Call]>
    return Object.fromEntries(methods.map(([method, call]) => [method, send(name, method, call)])) as Port
  }

  function send (port: string, method: string, call: Call): Call {
    const apply: Call = async (...args) => {
      const result = await call(...args)
      try {
        await onEffect(machine, port, method, args, result)
      } catch (violation) {
        world.fail(violation)
      }
      return result
    }
    return (...args) => {
      const transaction = args.at(-1)
      if (!(transaction instanceof Transaction)) return travel(method, () => apply(...args))
      const [tenant, event] = args as [string, NewEvent]
      transaction.effects.push(() => apply(tenant, event))
      return Promise.resolve({ id: event.id, deliveries: 0, fingerprint: event.fingerprint })
    }
  }

  function travel (method: string, apply: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => {
        world.after(random.integer(0, weather.longestMs), () => machine.deliver(settle))
      }
      world.after(random.integer(0, weather.longestMs), () => {
        if (weather.isDown || random.chance(weather.failsBefore)) {
          machine.trouble()
          return answer(() => reject(new StorageFault('the connection was refused')))
        }
        const losesReply = random.chance(weather.losesReply)
        const repeats = random.chance(weather.repeats)
        if (losesReply) machine.trouble()
        const first = apply()
        // A call that must not happen twice is rejected the second time.
        const last = repeats
          ? first.then(apply).catch((error: Error) => {
            throw new StorageFault(error.message)
          })
          : first
        last.then(
          (result) => answer(() => {
            if (losesReply) return reject(new StorageFault('the reply was lost'))
            onReply(method, result)
            resolve(result)
          }),
          (error: unknown) => answer(() => reject(error))
        )
      })
    })
  }

  const { webhooks, deliveries, changes, feed, holds, subscriptions } = storage
  return {
    webhooks: wrap('webhooks', webhooks),
    deliveries: {
      ...wrap('deliveries', deliveries),
      onDue (listener) {
        return deliveries.onDue(() => {
          if (weather.isDown || random.chance(weather.losesHint)) {
            world.faults++
            return
          }
          world.after(random.integer(0, weather.longestMs), () => machine.deliver(listener))
        })
      }
    },
    ...changes === undefined ? {} : { changes: wrap('changes', changes) },
    ...feed === undefined ? {} : { feed: wrap('feed', feed) },
    ...holds === undefined ? {} : { holds: wrap('holds', holds) },
    ...subscriptions === undefined ? {} : { subscriptions: wrap('subscriptions', subscriptions) }
  }
}
