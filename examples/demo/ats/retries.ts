/** Seconds to wait before each attempt. Much shorter than the default, so that you can watch a delivery fail. */
export const retrySchedule: readonly number[] = [0, 2, 3, 6]

/** Describes how the demo's retries differ from the default. */
export function describeRetries (): string[] {
  const [first, second, third] = retrySchedule.slice(1)
  return [
    `Shortened for this demo: after ${first}, ${second} and ${third} seconds.`,
    'By default, 9 retries take three days: after 5 s, 5 min, 30 min, 2 h and so on.'
  ]
}
