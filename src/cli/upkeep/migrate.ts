import { migrate } from '../../postgres/index.js'
import type { Command } from '../command.js'
import { show } from '../output.js'
import { withProgress } from '../progress.js'

export const command: Command = {
  args: [],
  options: { 'dry-run': { value: null, about: 'changes nothing, and shows what would run' } },
  runsUnmigrated: true,

  async run (context) {
    const dryRun = context.flags.has('dry-run')
    const { pool, schema } = context
    const migrations = await withProgress(context.io, 'migrating', () => migrate(pool, { schema, dryRun }))
    const done = dryRun ? 'would run' : 'ran'
    show(context, { migrations, dryRun }, migrations.length === 0 ? 'nothing to do\n' : migrations.map((name) => `${done} ${name}\n`).join(''))
    return 0
  }
}
