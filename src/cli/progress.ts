import type { Io } from './command.js'

const firstMs = 1000
const everyMs = 250

/** Shows on a terminal what a long task has done so far. `work` gets a function that sets the text. */
export async function withProgress<Result> (
  { showsProgress, err }: Pick<Io, 'showsProgress' | 'err'>,
  label: string,
  work: (report: (text: string) => void) => Promise<Result>
): Promise<Result> {
  const startedAt = performance.now()
  let done = ''
  let isShown = false
  function draw (): void {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs < firstMs) return
    isShown = true
    err(`\r\u001b[K${label}: ${done === '' ? '' : `${done}, `}${Math.round(elapsedMs / 1000)} s`)
  }
  const timer = showsProgress ? setInterval(draw, everyMs) : undefined
  try {
    return await work((text) => { done = text })
  } finally {
    clearInterval(timer)
    if (isShown) err('\r\u001b[K')
  }
}
