import { useId } from 'preact/hooks'
import { type Hour, countActivity } from './deliveries.js'
import type { DeliveryQuery } from './api.js'
import { usePortal, useQuery, useRefresh } from './hooks.js'

/** The API's largest page: one request, however long the log is. */
const newest = { sort: '-id', per_page: 200 } satisfies DeliveryQuery

/** The success rate of the last 24 hours, with a small chart. Renders nothing until it has loaded. */
export function Activity ({ webhookId }: { webhookId: number }) {
  const { api, messages: { endpoint: { activity: texts } }, text, percent } = usePortal()
  const id = useId()
  const query = useQuery((signal) => api.webhooks.listDeliveries(webhookId, newest, signal), [webhookId])
  useRefresh(query, 60_000)
  const { value } = query
  if (value === null) return null
  const { hours, share, isPartial, ...counts } = countActivity(value, Date.now())
  return (
    <section class='activity card' aria-labelledby={id}>
      <div>
        <h2 id={id}>{texts.title}</h2>
        {share === null
          ? <p class='muted'>{texts.none}</p>
          : (
            <>
              <p class='activity-share'>{text(texts.share, { percent: percent(share) })}</p>
              <p class='muted'>{text(texts.counts, counts)}</p>
            </>
            )}
        {isPartial && <p class='muted'>{text(texts.latest, { count: value.data.length })}</p>}
      </div>
      {share !== null && <Chart hours={hours} label={texts.chart} />}
    </section>
  )
}

const height = 48
const step = 10

/** One bar per hour: delivered below given up. The text next to it has the numbers. */
function Chart ({ hours, label }: { hours: readonly Hour[], label: string }) {
  const { messages: { endpoint: { activity: texts } }, text, time } = usePortal()
  const most = Math.max(...hours.map(({ delivered, failed }) => delivered + failed))
  return (
    <svg class='activity-chart' role='img' aria-label={label} viewBox={`0 0 ${hours.length * step} ${height}`}>
      {hours.map(({ begin, delivered, failed }, index) => {
        const good = (delivered / most) * height
        const bad = (failed / most) * height
        return (
          <g key={index}>
            <title>{text(texts.hour, { time: time(begin, Date.now()), delivered, failed })}</title>
            <rect class='activity-none' x={index * step} y='0' width={step - 2} height={height} />
            <rect class='activity-good' x={index * step} y={height - good} width={step - 2} height={good} />
            <rect class='activity-bad' x={index * step} y={height - good - bad} width={step - 2} height={bad} />
          </g>
        )
      })}
    </svg>
  )
}
