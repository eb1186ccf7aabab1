// Your customers run this, with the package's client. The first run prints all candidates. Later runs print changed
// candidates and new applications.
//
// npm install fastify-recruiting-api
// KEY=acme-secret-key tsx examples/19-client.ts

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { ApiError, createClient } from 'fastify-recruiting-api/client'

const {
  BASE_URL: baseUrl = 'http://127.0.0.1:3000/api/v1/public',
  TENANT: tenantSlug = 'acme',
  KEY: key = '',
  FOLDER = '.'
} = process.env
const client = createClient({ baseUrl, tenantSlug, key })

/** Stores a token in a file for the next run. */
function keepToken (name: string): { load: () => string | null, save: (token: string) => void } {
  const file = `${FOLDER}/${name}-token.txt`
  return {
    load: () => existsSync(file) ? readFileSync(file, 'utf8') : null,
    // A rename leaves either the old token or the new one, even if the program is killed.
    save (token) {
      writeFileSync(`${file}.new`, token)
      renameSync(`${file}.new`, file)
    }
  }
}

try {
  const events = keepToken('events')
  for await (const { data, meta } of client.candidates.sync(keepToken('candidates'))) {
    for (const { id, candidate } of data) {
      console.log(candidate === null ? `${id} is gone` : `${id} ${candidate.full_name}`)
    }
    // When everything is loaded: where the events begin that follow.
    if (meta.events_token !== undefined) events.save(meta.events_token)
  }
  for await (const { data } of client.events({ ...events, types: ['application.created'] })) {
    for (const event of data) console.log(`${event.timestamp} application ${event.data?.['id']}`)
  }
  console.log('up to date')
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.error(`${error.message} (${error.code}, ${error.requestId})`)
  process.exitCode = 1
}
