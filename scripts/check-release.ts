// Runs a command with an npm registry on the loopback (npm_config_registry) and an empty database (DATABASE_URL).
//
// tsx scripts/check-release.ts REGISTRY COMMAND

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startPostgresServer } from '../test/fixtures/postgres/postgres-server.js'
import { startRegistry } from './release/registry.js'

const [, , upstream = '', command = ''] = process.argv
const closers: Array<() => Promise<unknown>> = []
const { url: databaseUrl } = await startPostgresServer({ teardown: (close) => { closers.unshift(close) } })
const { url: registryUrl, server } = await startRegistry(upstream)
const child = spawn(command, {
  stdio: 'inherit',
  env: { ...process.env, DATABASE_URL: databaseUrl, npm_config_registry: registryUrl }
})
const [code] = await once(child, 'close') as [number | null]
server.close()
server.closeAllConnections()
for (const close of closers) await close()
process.exitCode = code ?? 1
