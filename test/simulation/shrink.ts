import { type Run, simulate } from './simulate.js'

/** Drops as many steps of a failing run as possible while it still fails. */
export async function shrink (run: Run): Promise<Run> {
  const dropped = new Set<number>()
  let shortest = run
  for (let size = Math.ceil(run.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < run.steps.length; from += size) {
      const more = new Set(dropped)
      for (let index = from; index < from + size; index++) more.add(index)
      const shorter = await simulate(run.seed, { isTraced: true, dropped: more })
      if (shorter.failure === null) continue
      for (const index of more) dropped.add(index)
      shortest = shorter
    }
  }
  return shortest
}
