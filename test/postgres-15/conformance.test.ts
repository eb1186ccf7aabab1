import { dirname } from 'node:path'
import t from 'tap'
import { findProgram } from '../fixtures/programs.js'
import { testConformance } from '../fixtures/postgres/postgres-conformance.js'

const { path, missing } = findProgram('postgresql-15', ['/usr/lib/postgresql/15/bin/postgres'])

t.test('PostgreSQL 15 keeps every promise of the ports', { skip: missing }, (t) => testConformance(t, { server: { binaries: dirname(path) } }))
