import { isPlainText } from '../shared/text.js'
import { listEvents } from '../webhooks/subjects.js'
import { type Command, UsageError } from './command.js'
import { openStorage, readTenant, tenantOption } from './find.js'
import { writeJsonLine } from './terminal.js'

export const find: Command = {
  args: ['SUBJECT'],
  options: { tenant: tenantOption },

  async run (context) {
    const { args: [subject = ''], flags, io } = context
    const tenant = readTenant('--tenant', flags.required('tenant'))
    if (!isPlainText(subject, 255)) {
      throw new UsageError(
        `SUBJECT: expected 1 to 255 characters without control characters, got ${JSON.stringify(subject)}`
      )
    }
    let rowCount = 0
    for await (const event of listEvents(openStorage(context).deliveries, tenant, subject)) {
      rowCount++
      writeJsonLine(io, event)
    }
    Object.assign(context.audit, { resource: { kind: 'subject', id: subject }, rowCount })
    return 0
  }
}
