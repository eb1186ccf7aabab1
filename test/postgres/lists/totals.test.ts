import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type PgPool, postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('totals', async (t) => {
  const { pool, saveCandidates } = await startPostgresHost(t)
  let counts = 0
  // A driver that knows how many totals were asked for.
  const counting: PgPool = {
    query: (text, values) => pool.query(text, values),
    async connect () {
      const client = await pool.connect()
      return {
        query (text, values) {
          if (text.includes('count candidates')) counts++
          return client.query(text, values)
        },
        release: (destroy) => client.release(destroy)
      }
    }
  }
  const open = (totalsTtlMs: number) => postgresStorage(counting, { totalsTtlMs }).candidates
  await saveCandidates('acme', [{ id: 1, full_name: 'Ada' }])
  t.beforeEach(() => { counts = 0 })

  t.test('are counted for each request, unless they may be kept', async (t) => {
    const candidates = open(0)
    await Promise.all([candidates.count('acme', {}), candidates.count('acme', {})])
    t.equal(counts, 2)
  })

  t.test('are kept by tenant and filter, for as long as they may be', async (t) => {
    const candidates = open(200)
    t.strictSame(await Promise.all(Array.from({ length: 5 }, () => candidates.count('acme', {}))), [1, 1, 1, 1, 1])
    t.equal(counts, 1)
    t.equal(await candidates.count('globex', {}), 0)
    t.equal(await candidates.count('acme', { q: 'x' }), 0)
    t.equal(counts, 3)

    await saveCandidates('acme', [{ id: 2, full_name: 'Bob' }])
    await sleep(250)
    t.equal(await candidates.count('acme', {}), 2)
    t.equal(counts, 4)
  })

  t.test('that failed are not kept', async (t) => {
    const candidates = open(60_000)
    await pool.query('alter table recruiting.candidates rename to hidden')
    await t.rejects(candidates.count('acme', {}))
    await pool.query('alter table recruiting.hidden rename to candidates')
    t.equal(await candidates.count('acme', {}), 2)
  })

  t.test('are kept for a limited number of filters', async (t) => {
    const candidates = open(60_000)
    await candidates.count('acme', { q: 'first' })
    for (let q = 0; q < 1000; q += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => candidates.count('acme', { q: String(q + index) })))
    }
    counts = 0
    await candidates.count('acme', { q: '999' })
    t.equal(counts, 0)
    await candidates.count('acme', { q: 'first' })
    t.equal(counts, 1)
  })
})
