import type { Delivery } from '../../api/types.js'
import { answerWords, toneOf } from '../../delivery-words.js'
import { Icon } from '../../parts/icon.js'
import { TimeAgo } from '../../parts/instant.js'
import { Link } from '../../parts/link.js'
import { Name, Url } from '../../parts/name.js'
import { Status } from '../../parts/status.js'
import { useFormat } from '../../state/portal.js'
import { useNow } from '../../state/time.js'

interface LogRowProps {
  webhookId: number
  delivery: Delivery
  /** From 1. */
  position: number
  size: number
  /** From the top of the list, in pixels. */
  offset: number
  onFocus: (deliveryId: number) => void
  onOpen: (deliveryId: number) => void
}

export function LogRow ({ webhookId, delivery, position, size, offset, onFocus, onOpen }: LogRowProps) {
  const { messages: { log } } = useFormat()
  const { id, event_type: eventType, event_id: eventId, status, attempt_count: count, next_attempt_at: nextAt, created_at: createdAt } = delivery
  return (
    <article
      class='row log-row' aria-posinset={position} aria-setsize={size} aria-label={`${eventType}, ${log.status[status]}`} data-id={id}
      style={{ insetBlockStart: `${offset}px` }} onFocusIn={() => onFocus(id)} onClick={() => onOpen(id)}
    >
      <div class='row-main'>
        <h3><Link to={{ screen: 'delivery', id: webhookId, deliveryId: id }} look='row-link'><Name>{eventType}</Name></Link></h3>
        <Url>{eventId}</Url>
      </div>
      <div class='log-outcome'>
        <p class='log-state'><Status tone={toneOf(status)}>{log.status[status]}</Status>{nextAt !== null && count > 0 && <span class='muted'><NextAttempt at={nextAt} /></span>}</p>
        <p class='muted'><Answer delivery={delivery} /></p>
      </div>
      <p class='log-time muted'><TimeAgo at={createdAt} /></p>
      <Icon name='forward' />
    </article>
  )
}

/** How the last attempt ended, and how many there were. */
function Answer ({ delivery }: { delivery: Delivery }) {
  const format = useFormat()
  const { messages: { log }, plural } = format
  const answer = answerWords(delivery, format)
  if (answer === null) return <>{delivery.status === 'pending' ? log.answer.none : log.answer.never}</>
  return <>{answer}{delivery.attempt_count > 1 && ` · ${plural(log.attempts, delivery.attempt_count)}`}</>
}

function NextAttempt ({ at }: { at: string }) {
  const { messages: { log }, text, relative } = useFormat()
  const now = useNow(1000)
  return <time dateTime={at}>{Date.parse(at) <= now ? log.due : text(log.next, { when: relative(at, now) })}</time>
}
