import { useState } from 'preact/hooks'
import type { RotatedWebhook, Webhook } from '../../api/types.js'
import { AskDialog } from '../../parts/ask-dialog.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'

const graces = [['none', 0], ['hour', 3600], ['day', 86_400], ['week', 604_800]] as const

/** Asks how long the old secret stays valid, and makes a new one. */
export function RotateDialog ({ webhook: { id }, onRotated, onClose }: { webhook: Webhook, onRotated: (webhook: RotatedWebhook) => void, onClose: () => void }) {
  const { api, graceEnds } = usePortal()
  const { messages: { endpoint: { rotate: texts, actions } } } = useFormat()
  const [seconds, setSeconds] = useState<number>(86_400)
  const rotating = useAction(() => api.rotateSecret(id, seconds))
  const rotate = async () => {
    const data = (await rotating.run())?.value?.data
    if (data === undefined) return
    graceEnds.set(id, data.previous_secret_expires_at)
    onRotated(data)
  }
  return (
    <AskDialog title={actions.rotate} label={actions.rotate} action={rotating} onConfirm={rotate} onClose={onClose}>
      <p>{texts.text}</p>
      <fieldset class='options'>
        <legend>{texts.grace}</legend>
        {graces.map(([name, value]) => (
          <label key={name}>
            <input type='radio' name='grace' checked={value === seconds} onChange={() => setSeconds(value)} />
            <span>{texts[name]}{name === 'none' && <span class='muted'>{texts.noneText}</span>}</span>
          </label>
        ))}
      </fieldset>
    </AskDialog>
  )
}
