import t from 'tap'
import { testConformance } from '../fixtures/postgres/postgres-conformance.js'

t.test('PostgreSQL keeps every promise of the ports', (t) => testConformance(t))
