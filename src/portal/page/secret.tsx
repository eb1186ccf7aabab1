import type { CreatedWebhook, RotatedWebhook } from './api.js'
import { useFormat, usePortal } from './hooks.js'
import { Button, CodeBlock, Copy, Tabs } from './parts/controls.js'
import { LeaveGuard } from './parts/dialogs.js'
import go from './code/go.txt'
import javascript from './code/javascript.txt'
import php from './code/php.txt'
import python from './code/python.txt'
import { Screen } from './shell.js'

/** Shows the secret of a webhook once, after it was created or rotated, and how to use it. */
export function SecretScreen ({
  webhook,
  onStored
}: {
  webhook: CreatedWebhook | RotatedWebhook
  onStored?: () => void
}) {
  const { leave } = usePortal()
  const { messages: { secret: texts } } = useFormat()
  const stored = onStored ?? (() => leave({ screen: 'endpoint', id: webhook.id }))
  return (
    <Screen title={'previous_secret_expires_at' in webhook ? texts.rotated : texts.created} intro={texts.intro}>
      <section class='section secret' aria-label={texts.label}>
        <h2>{texts.label}</h2>
        <p class='secret-value'>
          <code dir='ltr'>{webhook.secret}</code> <Copy text={webhook.secret} label={texts.label} />
        </p>
        <p class='muted'>{texts.store}</p>
        {'previous_secret_expires_at' in webhook && (
          <p>
            <Previous endsAt={webhook.previous_secret_expires_at} />
          </p>
        )}
      </section>
      <VerifyCode />
      <div class='actions'>
        <Button kind='primary' icon='check' onClick={stored}>
          {texts.stored}
        </Button>
      </div>
      <LeaveGuard isActive texts={texts.leave} />
    </Screen>
  )
}

function Previous ({ endsAt }: { endsAt: string | null }) {
  const { messages: { secret: texts, endpoint: { rotate } }, text, instant } = useFormat()
  return <>{endsAt === null ? rotate.ended : text(texts.bothUntil, { time: instant(endsAt) })}</>
}

const codes = { JavaScript: javascript, Python: python, PHP: php, Go: go }

/** Code that verifies a request, in four languages. */
function VerifyCode () {
  const { messages: { secret: { verify } }, text } = useFormat()
  const tabs = Object.entries(codes).map(([name, code]) => ({
    name,
    content: <CodeBlock code={code} label={text(verify.code, { language: name })} />
  }))
  return (
    <section class='section'>
      <h2>{verify.title}</h2>
      <p class='muted'>{verify.text}</p>
      <Tabs label={verify.languages} tabs={tabs} />
    </section>
  )
}
