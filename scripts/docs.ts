// Shows the pages in a browser, with search, at http://127.0.0.1:4000 or the PORT of the environment.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDocsServer } from './docs/server.js'

const version = '5.0.0'
const folder = join(tmpdir(), 'fastify-recruiting-api-docs', version)
const docsify = join(folder, 'node_modules/docsify/dist')
if (!existsSync(docsify)) {
  await promisify(execFile)('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', `docsify@${version}`])
}
const server = await createDocsServer(docsify)
await once(server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1'), 'listening')
const address = server.address()
console.log(`the pages are at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
