import { createInterface } from 'node:readline/promises'
import type { Io } from './command.js'

type Input = NodeJS.ReadableStream & { isTTY?: boolean }
type Output = NodeJS.WritableStream & { isTTY?: boolean }

/** The streams and the environment of a process. */
interface Process {
  env: Readonly<Record<string, string | undefined>>
  stdin: Input
  stdout: Output
  stderr: Output
}

/** Connects commands to a process. */
export function createIo ({ env, stdin, stdout, stderr }: Process): Io {
  return {
    env,
    out: (text) => { stdout.write(text) },
    err: (text) => { stderr.write(text) },
    showsResults: stdout.isTTY === true,
    showsProgress: stderr.isTTY === true,
    ask: stdin.isTTY === true && stderr.isTTY === true ? (question) => ask(stdin, stderr, question) : null,
    now: Date.now,
    importDriver: () => import('pg')
  }
}

/** Ctrl-C and Ctrl-D answer with nothing. */
async function ask (input: Input, output: Output, question: string): Promise<string> {
  const lines = createInterface({ input, output })
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return await Promise.race([lines.question(question), closed])
  } finally {
    lines.close()
  }
}
