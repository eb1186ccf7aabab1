import { EventEmitter } from 'node:events'
import { callHost } from '../observe/call-host.js'
import type { Logger } from '../observe/logger.js'
import type { EngineCalls, RecruitingEvents } from './recruiting.js'

/** The listeners that the host adds with `on`. */
export interface Listeners extends Pick<EngineCalls, 'on' | 'off'> {
  /** Calls each listener. Never throws: the error of a failing listener is logged, and the others are called. */
  emit<Name extends keyof RecruitingEvents> (name: Name, ...args: RecruitingEvents[Name]): void
}

export function createListeners (log: Logger): Listeners {
  const emitter = new EventEmitter()
  const onError = (err: unknown): void => log.error({ err }, 'a listener of the host failed')
  return {
    on (name, listener) { emitter.on(name, listener) },
    off (name, listener) { emitter.off(name, listener) },
    emit (name, ...args) {
      for (const listener of emitter.listeners(name)) callHost(() => listener(...args), onError)
    }
  }
}
