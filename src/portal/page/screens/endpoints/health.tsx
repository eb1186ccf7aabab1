import type { WebhookHealth, WebhookStatus } from '../../api/types.js'
import { healthWord } from '../../health.js'
import { Status } from '../../parts/status.js'
import { useFormat } from '../../state/portal.js'
import { useNow } from '../../state/time.js'

/** The health of a webhook in a word, and why. */
export function Health ({ status, health }: { status: WebhookStatus, health: WebhookHealth | null }) {
  const { messages: { endpoints }, plural } = useFormat()
  const { tone, word } = healthWord(status, health)
  const reason = useReason(status, health)
  const givenUp = word === 'active' ? 0 : health?.failed_deliveries ?? 0
  return (
    <div class='health'>
      <Status tone={tone}>{endpoints.health[word]}</Status>
      {reason !== null && <p class='muted'>{reason}</p>}
      {givenUp > 0 && <p class='muted'>{plural(endpoints.health.givenUp, givenUp)}</p>}
    </div>
  )
}

function useReason (status: WebhookStatus, health: WebhookHealth | null): string | null {
  const { messages: { endpoints: { health: texts } }, text, time } = useFormat()
  const now = useNow(30_000)
  if (status === 'inactive') return texts.inactive
  if (health?.disabled_reason === 'gone') return texts.gone
  if (health?.disabled_reason === 'failing') return texts.failedTooLong
  return health?.failing_since == null ? null : text(texts.since, { time: time(health.failing_since, now) })
}
