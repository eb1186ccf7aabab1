import { useState } from 'preact/hooks'
import type { WebhookWithHealth } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { useFormat } from '../../state/portal.js'
import { ReplayDialog } from './replay-dialog.js'

/** Opens the replay of a webhook. `onShowLog` shows what became of the events. */
export function ReplayButton ({ webhook, onShowLog }: { webhook: WebhookWithHealth, onShowLog: () => void }) {
  const { messages: { replay } } = useFormat()
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const show = () => {
    close()
    onShowLog()
  }
  return (
    <>
      <Button icon='replay' onClick={() => setOpen(true)}>{replay.open}</Button>
      {isOpen && <ReplayDialog webhook={webhook} onClose={close} onShowLog={show} />}
    </>
  )
}
