import type { ComponentChildren } from 'preact'
import type { WebhookWithHealth } from '../../api/types.js'
import { Notice } from '../../parts/notice.js'
import { useCan, useFormat } from '../../state/portal.js'
import { useNow } from '../../state/time.js'
import { ActivateButton } from './activate-button.js'

/** Why a webhook gets nothing or not everything, and what to do about it. */
export function HealthNotice ({ webhook, onChanged }: { webhook: WebhookWithHealth, onChanged: () => void }) {
  const { messages: { endpoint: { health: texts, actions } } } = useFormat()
  const { status, health: { failing_since: failingSince, paused_until: pausedUntil, disabled_reason: reason } } = webhook
  const isWriter = useCan('write')
  const activate = (label: string) => isWriter && <ActivateButton webhook={webhook} label={label} onChanged={onChanged} />
  if (status === 'inactive') return <Notice tone='off' title={texts.inactive}><p>{texts.inactiveText}</p>{activate(actions.resume)}</Notice>
  if (status === 'disabled') {
    const isGone = reason === 'gone'
    return (
      <Notice tone='bad' title={isGone ? texts.gone : texts.tooLong}>
        <p>{isGone ? texts.goneText : texts.tooLongText}</p>
        <GivenUp webhook={webhook} />
        {activate(actions.enable)}
      </Notice>
    )
  }
  return (
    <>
      {failingSince !== null && <Since title={texts.failing} at={failingSince}><p>{texts.failingText}</p><GivenUp webhook={webhook} /></Since>}
      {pausedUntil !== null && <Since title={texts.waiting} at={pausedUntil}><p>{texts.waitingText}</p></Since>}
    </>
  )
}

function Since ({ title, at, children }: { title: string, at: string, children: ComponentChildren }) {
  const { text, time } = useFormat()
  return <Notice tone='waiting' title={text(title, { time: time(at, useNow(60_000)) })}>{children}</Notice>
}

function GivenUp ({ webhook: { health } }: { webhook: WebhookWithHealth }) {
  const { messages: { endpoints }, plural } = useFormat()
  return health.failed_deliveries > 0 ? <p><b>{plural(endpoints.health.givenUp, health.failed_deliveries)}</b></p> : null
}
