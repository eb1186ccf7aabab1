import type { Webhook } from '../../api/types.js'
import { AskDialog } from '../../parts/ask-dialog.js'
import { useFormat } from '../../state/portal.js'
import { useSetStatus } from './use-set-status.js'

/** Says what pausing means, and pauses. */
export function PauseDialog ({ webhook, onChanged, onClose }: { webhook: Webhook, onChanged: () => void, onClose: () => void }) {
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const pausing = useSetStatus(webhook, 'inactive', () => {
    onClose()
    onChanged()
  })
  return (
    <AskDialog title={text(texts.pauseTitle, { name: webhook.name })} label={texts.pause} action={pausing} onConfirm={pausing.run} onClose={onClose}>
      <p>{texts.pauseText}</p>
    </AskDialog>
  )
}
