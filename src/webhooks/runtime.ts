import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../ports/index.js'
import { systemClock } from '../shared/clock.js'
import { createHistorySlots, type RunInSlot } from './history.js'
import { createLateSender } from './sending/late-sender.js'

/** The parts of the process that the engine uses. A simulation replaces them to repeat a run exactly. */
export interface Runtime {
  /** Real time, for limits that a clock of the host must not stop. */
  clock: Clock
  /** Resolves after the other work of this turn of the event loop. */
  nextTick (): Promise<unknown>
  /** Returns a number from 0 up to 1. */
  random (): number
  createSender: typeof createLateSender
  /** Shared by all engines of the process. */
  runInHistorySlot: RunInSlot
}

export const systemRuntime: Runtime = {
  clock: systemClock,
  nextTick: () => setImmediate(),
  random: () => Math.random(),
  createSender: createLateSender,
  runInHistorySlot: createHistorySlots(systemClock)
}
