import { type RunOptions, startRun } from './run.js'
import { formatWelcome } from './welcome.js'

export interface DemoOptions extends RunOptions {
  /** Receives the welcome text. */
  welcome: (text: string) => void
}

export interface Demo {
  pageUrl: string
  apiUrl: string
  receiverUrl: string
  close (): Promise<void>
}

/** Starts the demo. A reset from its page restarts it on the same ports with new data. */
export async function startDemo ({ welcome, ...options }: DemoOptions): Promise<Demo> {
  let run = await startRun(options, reset)
  let resetting = Promise.resolve()
  const { pageUrl, apiUrl, receiverUrl } = run
  welcome(formatWelcome(run))
  run.begin()

  function reset (): void {
    resetting = resetting.then(startOver)
  }

  async function startOver (): Promise<void> {
    await run.close()
    run = await startRun({ ...options, port: portOf(run.pageUrl), receiverPort: portOf(run.receiverUrl) }, reset)
    run.begin()
    options.print('demo', '', 'Reset: everything is as it was at the start')
  }

  return {
    pageUrl,
    apiUrl,
    receiverUrl,
    async close () {
      await resetting
      await run.close()
    }
  }
}

function portOf (url: string): number {
  return Number(new URL(url).port)
}
