import t from 'tap'
import { createStoryTables, goodStory, tellStory } from '../../../fixtures/postgres/host-story.js'
import { startPostgres } from '../../../fixtures/postgres/postgres-server.js'

const hourMs = 3_600_000

for (const [aheadMs, words] of [[hourMs, 'ahead of'], [-hourMs, 'behind']] as const) {
  t.test(`everything works for a process whose clock is an hour ${words} the server's`, async (t) => {
    const pool = (await startPostgres(t)).createPool()
    await createStoryTables(pool)
    t.strictSame(await tellStory(t, pool, { aheadMs }), goodStory)
  })
}
