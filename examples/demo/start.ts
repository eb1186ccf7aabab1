import { referencePage } from './page-api/reference.js'
import { runDemo } from './main.js'

process.exitCode = await runDemo({
  env: process.env,
  databaseUrl: process.env.DATABASE_URL ?? null,
  referencePage,
  otherPorts: 'PORT=4000 RECEIVER_PORT=4001 npm run demo'
})
