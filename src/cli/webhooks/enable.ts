import { createStatusCommand } from './set-status.js'

export const command = createStatusCommand('active',
  'Its record of failures is cleared. Events that it missed are not sent by this: replay them.')
