import { existsSync } from 'node:fs'
import t from 'tap'
import { testConformance } from '../fixtures/postgres/postgres-conformance.js'
import { postgres15 } from '../fixtures/postgres/postgres-server.js'

const skip = existsSync(postgres15) ? false : `there is no PostgreSQL 15 in ${postgres15}: apt-get install postgresql-15`

t.test('PostgreSQL 15 keeps every promise of the ports', { skip }, (t) => testConformance(t, { server: { binaries: postgres15 } }))
