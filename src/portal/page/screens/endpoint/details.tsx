import type { Webhook } from '../../api/types.js'
import { Copy } from '../../parts/copy.js'
import { Instant } from '../../parts/instant.js'
import { useFormat } from '../../state/portal.js'
import { showControls } from '../../text/show-controls.js'

/** The fields of a webhook. */
export function Details ({ webhook }: { webhook: Webhook }) {
  const { messages: { endpoint: { details: texts } } } = useFormat()
  return (
    <section class='section'>
      <h2>{texts.title}</h2>
      <dl class='facts'>
        <dt>{texts.url}</dt>
        <dd class='with-copy'><span class='whole' dir='ltr'>{showControls(webhook.target_url)}</span> <Copy text={webhook.target_url} label={texts.url} isIconOnly /></dd>
        <dt>{texts.events}</dt>
        <dd><ul class='chips'>{webhook.event_types.map((name) => <li key={name}><code dir='ltr'>{name}</code></li>)}</ul></dd>
        <dt>{texts.created}</dt>
        <dd><Instant at={webhook.created_at} /></dd>
        <dt>{texts.updated}</dt>
        <dd><Instant at={webhook.updated_at} /></dd>
      </dl>
    </section>
  )
}
