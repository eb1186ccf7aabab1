import { Problem } from '../../parts/problem.js'
import { useFormat } from '../../state/portal.js'
import type { Count } from './use-count.js'

/** How many events a replay would send. */
export function ReplayCount ({ count: { counted, failure, reload }, include }: { count: Count, include: 'undelivered' | 'all' }) {
  const { messages: { replay: texts }, plural, text } = useFormat()
  if (failure !== null) return <Problem failure={failure} onRetry={reload} />
  const isRest = counted?.isTruncated === true
  return (
    <div class='replay-count' role='status'>
      {counted === null
        ? <p class='muted'><span class='spinner' /> {texts.counting}</p>
        : <p class='replay-number'>{counted.queued === 0 ? texts.none : plural(texts.matches, counted.queued)}</p>}
      {isRest && <p class='muted'>{text(texts.truncated, { count: counted.queued })} {include === 'all' ? texts.againAll : texts.againUndelivered}</p>}
    </div>
  )
}
