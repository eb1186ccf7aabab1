import { postgresStorage } from '../../postgres/index.js'
import type { Command } from '../command.js'
import { formatRecord, show } from '../output.js'

export const command: Command = {
  args: [],
  options: {},

  async run (context) {
    const { pool, schema } = context
    const stats = await postgresStorage(pool, { schema }).deliveries.stats()
    const { atLeast, oldestDueMs, leased, ...counts } = stats
    const atLeastOf = (name: 'pending' | 'due'): string => `${counts[name]}${atLeast[name] ? ' or more' : ''}`
    show(context, stats, formatRecord({ pending: atLeastOf('pending'), due: atLeastOf('due'), leased, 'oldest due': `${Math.round(oldestDueMs / 1000)} s` }))
    return 0
  }
}
