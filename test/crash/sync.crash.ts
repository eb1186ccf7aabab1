import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { kill, startProcess } from '../fixtures/crash/crash.js'
import { startPostgresServer } from '../fixtures/postgres/postgres-server.js'
import { createPostgresWorld } from '../sync/proof/postgres-world.js'
import { formatReport } from '../sync/proof/report.js'
import { runProof } from '../sync/proof/run-proof.js'
import { pickSeed } from '../sync/proof/seed.js'
import type { ProofServer, World } from '../sync/proof/world.js'

const operations = Number(process.env.OPERATIONS ?? 1_000_000)
// Restarting takes seconds. No one can read until then.
const kills = Math.ceil(operations / 50_000)
// Each of seven kinds of changes that vendors make to tables, three times.
const damages = 21

t.setTimeout(0)

t.test(`copies are exact after ${operations} writes, while API and PostgreSQL are killed and some changes bypass the triggers`, { timeout: 7_200_000 }, async (t) => {
  const postgres = await startPostgresServer(t, { settings: ['fsync=on', 'synchronous_commit=on'] })
  const pool = postgres.createPool({ max: 30 })

  async function serve (port: number): Promise<ProofServer> {
    const child = startProcess(t, 'crash-api', postgres.url, String(port))
    const [output] = await once(child.stdout, 'data')
    return { port: Number(String(output)), kill: () => kill(child) }
  }

  const world = outlive(await createPostgresWorld(t, pool, { serve }))
  const seed = pickSeed(t)
  const report = await runProof(world, {
    seed,
    operations,
    kills,
    damages,
    writers: 24,
    restMs: 100,
    outlives: /fetch failed|terminated|other side closed|got 500|got 404/,
    async disturb () {
      await postgres.stop('immediate')
      await postgres.start()
    }
  })
  t.comment(formatReport(report))
  t.strictSame(report.sync, { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 })
  t.ok(report.kills > 0 && report.crashes > 0)
  t.equal(report.damages, damages)
})

/** Writers retry when the database was killed. Only the table shows whether the last transaction committed. */
function outlive (world: World): World {
  return {
    ...world,
    async write (random) {
      try {
        return await world.write(random)
      } catch (error) {
        if (!isConnectionLost(error)) throw error
        await sleep(50)
        return 0
      }
    }
  }
}

function isConnectionLost (error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string, message?: string }
  return code.startsWith('57P') || /terminat|ECONN|timeout|connection error/.test(`${code} ${message}`)
}
