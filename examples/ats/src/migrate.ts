// Creates or updates the tables. Run it before a new version starts; the old version keeps working.

import { readConfig } from './config.js'
import { openDatabase, updateTables } from './database.js'

const config = readConfig(process.env)
const pool = await openDatabase({ ...config, isProduction: true })
await updateTables(pool)
await pool.end()
