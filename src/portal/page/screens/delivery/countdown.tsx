import { useFormat } from '../../state/portal.js'
import { useNow } from '../../state/time.js'

/** The time of the next attempt, counted down. */
export function Countdown ({ at }: { at: string }) {
  const { messages: { delivery }, relative, instant } = useFormat()
  const now = useNow(1000)
  return <time dateTime={at} title={instant(at)}>{Date.parse(at) <= now ? delivery.due : relative(at, now)}</time>
}
