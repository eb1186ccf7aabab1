import type { WebhookWithHealth } from '../../api/types.js'
import { healthWord } from '../../health.js'
import { Status } from '../../parts/status.js'
import { useFormat, usePortal } from '../../state/portal.js'

/** The state of a webhook in a word; for those who may change nothing, that too. */
export function Summary ({ webhook: { status, health } }: { webhook: WebhookWithHealth }) {
  const { can } = usePortal()
  const { messages: { endpoints, shell } } = useFormat()
  const { tone, word } = healthWord(status, health)
  return (
    <span class='summary'>
      <Status tone={tone}>{endpoints.health[word]}</Status>
      {!can('write') && <span>{shell.readOnly}</span>}
    </span>
  )
}
