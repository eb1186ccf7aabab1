import { readField } from '../shared/fields.js'
import { type Io, type LocalCommand, program, RefusedError } from './command.js'

/** The part of `examples/demo/main.ts` that the command calls. */
interface DemoModule {
  runDemo(surroundings: { env: Io['env']; databaseUrl: null; referencePage: null; otherPorts: string }): Promise<number>
}

export const demo: LocalCommand = {
  options: {
    port: { value: 'NUMBER', about: 'the port of the page; the default is 3000, or a free port', variables: ['PORT'] },
    'receiver-port': {
      value: 'NUMBER',
      about: 'the port of the receiver; the default is 3001, or a free port',
      variables: ['RECEIVER_PORT']
    }
  },
  async runLocally ({ io, flags }) {
    const { runDemo } = await importDemo(io)
    const ports = {
      PORT: flags.text('port') ?? io.env['PORT'],
      RECEIVER_PORT: flags.text('receiver-port') ?? io.env['RECEIVER_PORT']
    }
    return runDemo({
      env: { ...io.env, ...ports },
      // Never DATABASE_URL, which other commands use: the demo starts with empty tables.
      databaseUrl: null,
      referencePage: null,
      otherPorts: `npx ${program} demo --port 4000 --receiver-port 4001`
    })
  }
}

async function importDemo (io: Io): Promise<DemoModule> {
  try {
    return await io.importDemo() as DemoModule
  } catch (error) {
    if (readField(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new RefusedError('the package fastify is not installed: run npm install fastify')
  }
}
