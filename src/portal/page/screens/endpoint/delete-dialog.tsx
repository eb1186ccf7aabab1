import type { Webhook } from '../../api/types.js'
import { ConfirmByName } from '../../parts/confirm-by-name.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'

/** Deletes a webhook after its name was typed. */
export function DeleteDialog ({ webhook: { id, name }, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { api, announce, leave } = usePortal()
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const deleting = useAction(() => api.deleteWebhook(id))
  const remove = async () => {
    const result = await deleting.run()
    // Somebody else may have deleted it first.
    if (result?.failure !== null && result?.failure.code !== 'not_found') return
    announce(text(texts.deleted, { name }))
    leave({ screen: 'endpoints' })
  }
  return (
    <ConfirmByName title={text(texts.deleteTitle, { name })} name={name} label={texts.deleteAction} action={deleting} onConfirm={remove} onClose={onClose}>
      <p>{texts.deleteText}</p>
    </ConfirmByName>
  )
}
