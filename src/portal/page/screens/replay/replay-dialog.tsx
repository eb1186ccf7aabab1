import { useState } from 'preact/hooks'
import type { ReplayResult, WebhookWithHealth } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { Notice } from '../../parts/notice.js'
import { useFormat } from '../../state/portal.js'
import { ReplayForm } from './replay-form.js'
import { ReplayProgress } from './replay-progress.js'

interface ReplayDialogProps {
  webhook: WebhookWithHealth
  onClose: () => void
  onShowLog: () => void
}

/** Chooses events and sends them once more, or says why that cannot be. */
export function ReplayDialog ({ webhook, onClose, onShowLog }: ReplayDialogProps) {
  const { messages: { replay: texts, shell } } = useFormat()
  const [isActive, setActive] = useState(webhook.status === 'active')
  const [result, setResult] = useState<ReplayResult | null>(null)
  const close = <Button onClick={onClose}>{shell.close}</Button>
  if (result !== null) {
    const actions = <>{close}<Button kind='primary' onClick={onShowLog}>{texts.showLog}</Button></>
    return <Dialog title={texts.title} onClose={onClose} actions={actions}><ReplayProgress webhookId={webhook.id} result={result} /></Dialog>
  }
  if (isActive) return <ReplayForm webhook={webhook} onClose={onClose} onReplayed={setResult} onInactive={() => setActive(false)} />
  return (
    <Dialog title={texts.title} onClose={onClose} actions={close}>
      <Notice tone='off' title={texts.inactiveTitle}><p>{texts.inactiveText}</p></Notice>
    </Dialog>
  )
}
