import { useState } from 'preact/hooks'
import { type Subscription, orGone, readAll } from './api.js'
import { formatFilters } from './draft.js'
import { usePagedQuery, usePortal, useRefresh } from './hooks.js'
import { nameOf } from './keys.js'
import { Button } from './parts/controls.js'
import { Chips, Instant, Name, Status, TimeAgo } from './parts/feedback.js'
import { Confirm, ListScreen } from './parts/frames.js'
import { describeResult } from './text.js'

/** A subscription with the name of its agent. */
interface Agent extends Subscription {
  name: string
}

/** The subscriptions of the tenant's agents. */
export function AgentsScreen () {
  const { api, keys, messages: { agents: texts } } = usePortal()
  const [ending, setEnding] = useState<Agent | null>(null)
  const list = usePagedQuery<Agent>(async (query, signal) => {
    const [found, known] = await Promise.all([
      api.subscriptions.list({ ...query, sort: '-created_at' }, signal),
      keys === null ? null : readAll(api.apiKeys.list, signal)
    ])
    if (found.failure !== null) return found
    // Without the keys, and for users of an authorization server, the id is the name.
    const names = new Map(known?.value?.map((key) => [key.id, nameOf(key)]))
    const data = found.value.data.map((one) => ({ ...one, name: names.get(one.key_id) ?? one.key_id }))
    return { value: { ...found.value, data }, failure: null }
  })
  useRefresh(list, ending === null ? 15_000 : null)
  return (
    <>
      <ListScreen title={texts.title} intro={texts.intro} list={list} empty={texts.empty}>
        {(agent) => <AgentRow key={agent.id} agent={agent} onEnd={() => setEnding(agent)} />}
      </ListScreen>
      {ending !== null && (
        <DisconnectDialog agent={ending} onDone={list.reload} onClose={() => setEnding(null)} />
      )}
    </>
  )
}

function AgentRow ({ agent, onEnd }: { agent: Agent, onEnd: () => void }) {
  const format = usePortal()
  const { can, messages: { agents: texts, endpoints: { health }, keys }, text } = format
  const { name, event_type: event, filters, callback_host: host, status, last_delivered_at: deliveredAt } = agent
  const failure = describeResult({ response_status: agent.last_response_status, error: agent.last_error }, format)
  return (
    <li class='row'>
      <div class='row-main'>
        <h2><Name>{name}</Name></h2>
        <code class='whole muted' dir='ltr'>{event}</code>
        {filters !== null && <Chips texts={formatFilters(filters)} />}
        <p class='muted'>
          {text(texts.to, { host })}{' · '}
          {deliveredAt === null ? texts.none : <>{texts.last} <TimeAgo at={deliveredAt} /></>}
        </p>
      </div>
      <div class='health'>
        <Status tone={status === 'active' ? 'good' : 'waiting'}>
          {status === 'throttled' ? texts.throttled : health[status]}
        </Status>
        {failure !== null && <p class='muted'>{failure}</p>}
        <p class='muted'>{keys.state.until} <Instant at={agent.expires_at} /></p>
      </div>
      {can('write') && (
        <div class='actions'>
          <Button label={text(texts.endTitle, { name, event })} onClick={onEnd}>{texts.end}</Button>
        </div>
      )}
    </li>
  )
}

interface DisconnectDialogProps {
  agent: Agent
  onDone: () => void
  onClose: () => void
}

/** Asks before it ends a subscription. */
function DisconnectDialog ({ agent: { id, name, event_type: event }, onDone, onClose }: DisconnectDialogProps) {
  const { api, announce, focusTitle, messages: { agents: texts }, text } = usePortal()
  const onEnded = () => {
    announce(text(texts.ended, { name }))
    onClose()
    onDone()
    focusTitle()
  }
  return (
    <Confirm
      title={text(texts.endTitle, { name, event })} label={texts.end} kind='danger'
      act={async () => orGone(await api.subscriptions.end(id))} onDone={onEnded} onClose={onClose}
    >
      <p>{texts.endText}</p>
    </Confirm>
  )
}
