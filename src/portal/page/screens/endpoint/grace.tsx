import { useFormat, usePortal } from '../../state/portal.js'
import { useNow } from '../../state/time.js'

/** Counts down how long the previous secret of a webhook is valid, if it was rotated in this page. */
export function Grace ({ webhookId }: { webhookId: number }) {
  const { graceEnds } = usePortal()
  const endsAt = graceEnds.get(webhookId)
  return endsAt === undefined ? null : <Countdown endsAt={endsAt} />
}

function Countdown ({ endsAt }: { endsAt: string | null }) {
  const { messages: { endpoint: { rotate: texts } }, text, span } = useFormat()
  const left = endsAt === null ? 0 : Date.parse(endsAt) - useNow(1000)
  return <p class='grace'>{left > 0 ? text(texts.countdown, { time: span(left) }) : texts.ended}</p>
}
