import type { AuditEntry } from 'fastify-recruiting-api'
import { postgresKeyLookup, postgresStorage } from 'fastify-recruiting-api/postgres'
import { postgresApplications } from './applications.js'
import { buildAts } from './ats.js'
import { postgresCompanies } from './companies.js'
import { readConfig } from './config.js'
import { openDatabase } from './database.js'
import { createDeveloper, prepare } from './development.js'

async function start (): Promise<void> {
  // First, so that PostgreSQL always stops with this process.
  const stopped = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve)
  })
  const config = readConfig(process.env)
  const pool = await openDatabase(config)
  // Add your own sign-in here. Until then, no one is signed in without DEVELOPER_SIGN_IN.
  const developer = config.hasDeveloper ? await createDeveloper(pool) : null
  const findUser = () => developer
  const companies = postgresCompanies(pool)
  const onAudit = (entry: AuditEntry): void => app.log.info({ entry }, 'audit')
  const app = await buildAts({
    ...config,
    storage: postgresStorage(pool),
    keyLookup: postgresKeyLookup(pool),
    companies,
    applications: postgresApplications(pool),
    findUser,
    onAudit,
    logLevel: config.isProduction ? 'info' : 'warn'
  })
  const origin = await app.listen({ host: config.host, port: config.port })
  if (developer !== null) console.log(await prepare(pool, origin, developer))
  // Deliveries in flight get time to finish.
  await stopped
  await app.close()
  // Afterwards: the last audit entries are written while the server closes.
  await pool.end()
}

await start().catch((error: NodeJS.ErrnoException) => {
  const isInUse = error.code === 'EADDRINUSE'
  console.error(isInUse ? `${error.message}. Set PORT to choose another one.` : error.message)
  process.exit(1)
})
