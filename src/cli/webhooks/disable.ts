import { createStatusCommand } from './set-status.js'

export const command = createStatusCommand('inactive',
  'Its pending deliveries end as skipped; replay can bring them back.')
