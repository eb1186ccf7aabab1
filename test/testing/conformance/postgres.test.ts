import t from 'tap'
import { testConformance } from '../../fixtures/postgres/postgres-conformance.js'

t.test('PostgreSQL keeps every promise of the ports in a schema of any name, and in the order of any language', (t) =>
  testConformance(t, { schema: 'Größe "x"; drop schema \'a\'.b', server: { language: 'en-US' } }))
