import { useFormat } from '../state/portal.js'
import { useNow } from '../state/time.js'

/** A date with its time. */
export function Instant ({ at }: { at: string }) {
  const { instant } = useFormat()
  return <time dateTime={at}>{instant(at)}</time>
}

/** How long ago, or in how much time. The date is its tooltip. */
export function TimeAgo ({ at }: { at: string }) {
  const { instant, relative } = useFormat()
  const isNear = Math.abs(Date.parse(at) - Date.now()) < 120_000
  const now = useNow(isNear ? 1000 : 30_000)
  return <time dateTime={at} title={instant(at)}>{relative(at, now)}</time>
}
