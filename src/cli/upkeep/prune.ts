import { postgresStorage } from '../../postgres/index.js'
import { confirm } from '../ask.js'
import type { Command } from '../command.js'
import { show } from '../output.js'
import { withProgress } from '../progress.js'

const batchSize = 1000

// No defaults: a retention shorter than that of the host's servers would delete too much.
export const command: Command = {
  args: [],
  options: {
    'retention-days': { value: 'DAYS', about: 'deletes ended deliveries and events that are older, as delivery.retentionDays: 1 to 3650', isRequired: true },
    'changes-retention-days': { value: 'DAYS', about: 'also deletes changes of candidates and jobs that are older, as changesRetentionDays' }
  },

  async run (context) {
    const { flags, io, pool, schema } = context
    const retentionDays = Number(flags.integer('retention-days', 1, 3650))
    const changesDays = flags.integer('changes-retention-days', 1, 3650)
    const more = changesDays === undefined ? '' : `, and changes that are older than ${changesDays}`
    await confirm(context, `Deletes ended deliveries and events that are older than ${retentionDays} days${more}.`)
    const { deliveries, changes } = postgresStorage(pool, { schema })
    let pruned = 0
    await withProgress(io, 'pruning', async (report) => {
      async function pruneAll (pruneBatch: () => Promise<number>): Promise<void> {
        for (let count = -1; count !== 0; pruned += count) {
          count = await pruneBatch()
          report(`${pruned + count} rows`)
        }
      }
      await pruneAll(() => deliveries.prune({ retentionDays, limit: batchSize }))
      if (changesDays !== undefined) await pruneAll(() => changes.prune({ retentionDays: changesDays, limit: batchSize }))
    })
    show(context, { pruned }, `deleted ${pruned} rows\n`)
    return 0
  }
}
