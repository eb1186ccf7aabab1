import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { RotatedWebhook, Webhook } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { DeleteDialog } from './delete-dialog.js'
import { Grace } from './grace.js'
import { PauseDialog } from './pause-dialog.js'
import { RotateDialog } from './rotate-dialog.js'

interface ManageProps {
  webhook: Webhook
  onChanged: () => void
  onRotated: (webhook: RotatedWebhook) => void
}

/** The rare actions of a webhook, each with its effect. */
export function Manage ({ webhook, onChanged, onRotated }: ManageProps) {
  const { can } = usePortal()
  const { messages: { endpoint: { actions: texts } } } = useFormat()
  const [open, setOpen] = useState<'pause' | 'rotate' | 'delete' | null>(null)
  const onClose = () => setOpen(null)
  if (!can('write')) return null
  return (
    <section class='section'>
      <h2>{texts.title}</h2>
      <ul class='manage'>
        {webhook.status === 'active' && (
          <Item text={texts.pauseText}><Button onClick={() => setOpen('pause')}>{texts.pause}</Button></Item>
        )}
        {can('secrets') && (
          <Item text={texts.rotateText} more={<Grace webhookId={webhook.id} />}><Button onClick={() => setOpen('rotate')}>{texts.rotate}</Button></Item>
        )}
        <Item text={texts.deleteText}><Button onClick={() => setOpen('delete')}>{texts.delete}</Button></Item>
      </ul>
      {open === 'pause' && <PauseDialog webhook={webhook} onChanged={onChanged} onClose={onClose} />}
      {open === 'rotate' && <RotateDialog webhook={webhook} onRotated={onRotated} onClose={onClose} />}
      {open === 'delete' && <DeleteDialog webhook={webhook} onClose={onClose} />}
    </section>
  )
}

function Item ({ text, more, children }: { text: string, more?: ComponentChildren, children: ComponentChildren }) {
  return <li><p class='muted'>{text}</p>{children}{more}</li>
}
