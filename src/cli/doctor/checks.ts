import { retention, sequences } from './data.js'
import { copies, dueDeliveries, failing, secrets, workers } from './deliveries.js'
import type { Check } from './finding.js'
import { locks } from './locks.js'
import { relations, watched } from './relations.js'
import { publications, replication } from './replication.js'
import { rows, schema } from './schema.js'
import { clocks, listening, migrations, privileges } from './server.js'
import { database, roleSettings, vacuum } from './settings.js'
import { tenantIds } from './tenant-ids.js'
import { feed, sync, transactions } from './transactions.js'

/** Every check, in the order in which findings are shown. */
export const checks: readonly Check[] = [
  locks, migrations, privileges, database, roleSettings, schema, rows, sequences, relations, copies, dueDeliveries,
  workers, retention, vacuum, transactions, publications, replication, sync, feed, watched, clocks, listening, secrets,
  tenantIds, failing
]
