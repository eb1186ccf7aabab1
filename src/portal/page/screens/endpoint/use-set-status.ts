import type { Webhook } from '../../api/types.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'

/** Pauses a webhook or makes it active, and says so. What asked for it disappears, so the title gets the focus. */
export function useSetStatus ({ id, name }: Webhook, status: 'active' | 'inactive', onChanged: () => void) {
  const { api, announce, title } = usePortal()
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const action = useAction(() => api.updateWebhook(id, { status }))
  const run = async () => {
    if ((await action.run())?.failure !== null) return
    announce(text(status === 'active' ? texts.resumed : texts.paused, { name }))
    onChanged()
    requestAnimationFrame(() => title.current?.focus())
  }
  return { ...action, run }
}
