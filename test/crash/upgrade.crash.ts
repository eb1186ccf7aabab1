import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { upgrade } from '../../src/postgres/upgrade/upgrade.js'
import { startUpgradeLoad } from '../fixtures/postgres/next-version/load.js'
import { readNextVersion } from '../fixtures/postgres/next-version/next-version.js'
import { startPostgresServer } from '../fixtures/postgres/postgres-server.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const installs = 20
const longestMs = 1000

t.test('the next version is installed 20 times under 4 workers of both versions and 4 emitters', async (t) => {
  const server = await startPostgresServer(t, { settings: ['fsync=on'] })
  const next = await readNextVersion()
  for (let install = 1; install <= installs; install++) {
    const pool = server.createPool({ max: 20 })
    const receiver = await startReceiver(t)
    const schema = `install_${install}`
    const load = await startUpgradeLoad(pool, receiver, schema, { workers: 2, emitters: 4, logged: 200_000 })
    await sleep(1500)
    const before = load.readSlowest()

    const upgrading = upgrade(pool, schema, next)
    upgrading.catch(() => {})
    if (install % 2 === 0) {
      // As if its process was killed at some point, and started again.
      await sleep(Math.random() * 300)
      await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where query ~ 'concurrently|notes|claim_v2' and pid <> pg_backend_pid()")
      await upgrading.catch(() => {})
    }
    await upgrade(pool, schema, next)
    await load.startNext()
    await sleep(500)
    const during = load.readSlowest()
    const { emitted, delivered, errors } = await load.finish()
    t.strictSame([delivered, errors], [emitted, []])
    for (const call of ['emitMs', 'completeMs'] as const) {
      t.ok(during[call] < before[call] + longestMs, `${call}: the slowest took ${during[call]}, before the install ${before[call]}`)
    }
    t.strictSame((await pool.query('select indisvalid from pg_index where indexrelid = $1::regclass', [`${schema}.deliveries_ended`])).rows, [{ indisvalid: true }])
    await pool.query(`drop schema ${schema} cascade`)
  }
})
