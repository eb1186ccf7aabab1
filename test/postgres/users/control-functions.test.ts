import t from 'tap'
import { createStoryTables, goodStory, tellStory } from '../../fixtures/postgres/host-story.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createUser } from '../../fixtures/postgres/users.js'

t.test('everything works for a user that owns nothing and may not call pg_control_system and pg_control_checkpoint', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await createStoryTables(owner)
  await owner.query('revoke execute on function pg_control_system(), pg_control_checkpoint() from public')
  const pool = await createUser(t, server, owner)
  await t.rejects(pool.query('select pg_control_system()'), { code: '42501' })
  t.strictSame(await tellStory(t, pool), goodStory)
})
