import t from 'tap'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { tenants } from '../../fixtures/api/app.js'
import { buildHost } from '../../fixtures/fuzz/fuzz-host.js'
import { fuzz } from '../../fixtures/fuzz/fuzz.js'

t.test('no request makes PostgreSQL reject a statement', async (t) => {
  const { storage, saveCandidates, saveJobs } = await startPostgresHost(t, { changes: 'manual' })
  for (const [slug, { candidates = [], jobs = [] }] of Object.entries(tenants)) {
    await saveCandidates(slug, candidates)
    await saveJobs(slug, jobs)
  }
  await fuzz(t, await buildHost(t, { real: storage }), 1000)
})
