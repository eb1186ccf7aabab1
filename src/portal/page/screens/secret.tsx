import type { CreatedWebhook, RotatedWebhook } from '../api/types.js'
import { Button } from '../parts/button.js'
import { Copy } from '../parts/copy.js'
import { LeaveGuard } from '../parts/leave-guard.js'
import { Screen } from '../parts/screen.js'
import { useFormat, usePortal } from '../state/portal.js'
import { VerifyCode } from './secret/verify-code.js'

/** Shows the secret of a webhook once, after it was created or rotated, and how to use it. */
export function SecretScreen ({ webhook, onStored }: { webhook: CreatedWebhook | RotatedWebhook, onStored?: () => void }) {
  const { leave } = usePortal()
  const { messages: { secret: texts } } = useFormat()
  const stored = onStored ?? (() => leave({ screen: 'endpoint', id: webhook.id }))
  return (
    <Screen title={'previous_secret_expires_at' in webhook ? texts.rotated : texts.created} intro={texts.intro}>
      <section class='section secret' aria-label={texts.label}>
        <h2>{texts.label}</h2>
        <p class='secret-value'><code dir='ltr'>{webhook.secret}</code> <Copy text={webhook.secret} label={texts.label} /></p>
        <p class='muted'>{texts.store}</p>
        {'previous_secret_expires_at' in webhook && <p><Previous endsAt={webhook.previous_secret_expires_at} /></p>}
      </section>
      <VerifyCode />
      <div class='actions'><Button kind='primary' icon='check' onClick={stored}>{texts.stored}</Button></div>
      <LeaveGuard isActive texts={texts.leave} />
    </Screen>
  )
}

function Previous ({ endsAt }: { endsAt: string | null }) {
  const { messages: { secret: texts, endpoint: { rotate } }, text, instant } = useFormat()
  return <>{endsAt === null ? rotate.ended : text(texts.bothUntil, { time: instant(endsAt) })}</>
}
