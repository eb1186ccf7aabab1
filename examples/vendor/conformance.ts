// Runs the conformance kit over a vendor's code: two sources and a key lookup.
//
// npx tsx examples/vendor/conformance.ts

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { memoryStorage } from 'fastify-recruiting-api/memory'
import {
  type KeyHarness,
  type StorageHarness,
  formatReport,
  keyLookupCases,
  runCases,
  storageCases
} from 'fastify-recruiting-api/testing'
import { SignJWT } from 'jose'
import { jwtKeyLookup } from './jwt-keys.js'
import { type Person, type Vacancy, createService } from './service.js'
import { createSources, ids } from './sources.js'

async function makeHarness (): Promise<StorageHarness<string>> {
  const data = { people: [] as Person[], vacancies: [] as Vacancy[] }
  const service = createService(data).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  return {
    ids,
    hasUuids: true,
    storage: { ...memoryStorage(), ...createSources(`http://127.0.0.1:${port}`) },
    saveCandidates (tenant, rows) {
      data.people.push(...rows.map((row) => ({
        tenant,
        id: row.id,
        first: row.full_name,
        last: '',
        title: row.headline,
        source: row.source_id,
        owner: row.recruiter_id,
        createdAt: row.created_at,
        changedAt: row.updated_at
      })))
    },
    saveJobs (tenant, rows) {
      data.vacancies.push(...rows.map((row) => ({
        tenant, nr: row.id, title: row.name, state: row.status, createdAt: row.created_at, changedAt: row.updated_at
      })))
    },
    close () {
      service.closeAllConnections()
      service.close()
    }
  }
}

function makeJwtHarness (): KeyHarness {
  const secret = new TextEncoder().encode('a secret of 32 bytes or more, for HS256')
  const revoked = new Set<string>()
  return {
    lookup: jwtKeyLookup(secret, 'https://ats.example', (id) => revoked.has(id)),
    async save ({ key, tenantSlug, scopes, state }) {
      if (state === 'revoked') revoked.add(`token of ${key}`)
      return new SignJWT({ scope: scopes.join(' ') }).setProtectedHeader({ alg: 'HS256' })
        .setIssuer('https://ats.example').setAudience(tenantSlug).setJti(`token of ${key}`)
        .setExpirationTime(state === 'expired' ? new Date(Date.now() - 1000) : '1h').sign(secret)
    }
  }
}

const lists = storageCases.filter(({ group }) => group === 'lists')
const results = [await runCases(lists, makeHarness), await runCases(keyLookupCases, makeJwtHarness)]
for (const some of results) console.log(formatReport(some))
process.exitCode = results.flat().every(({ error }) => error === null) ? 0 : 1
