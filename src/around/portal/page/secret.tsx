import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { WebhookWithSecret, Result, RotatedWebhook } from './api.js'
import { usePortal } from './hooks.js'
import { Button, CodeBlock, Copy } from './parts/controls.js'
import { Choices } from './parts/fields.js'
import { Confirm, LeaveGuard, Screen } from './parts/frames.js'
import { verifyCodes } from './verify-code.js'

interface SecretScreenProps {
  title: string
  intro: string
  /** Names the secret. */
  label: string
  secret: string
  /** More about the secret. */
  about: ComponentChildren
  children?: ComponentChildren
  onStored: () => void
}

/** Shows a secret once. It is neither in the history nor in the browser's storage. */
export function SecretScreen ({ title, intro, label, secret, about, children, onStored }: SecretScreenProps) {
  const { messages: { secret: texts } } = usePortal()
  return (
    <Screen title={title} intro={intro}>
      <section class='section secret' aria-label={label}>
        <h2>{label}</h2>
        <p class='secret-value'><code dir='ltr'>{secret}</code> <Copy text={secret} label={label} /></p>
        {about}
      </section>
      {children}
      <div class='actions'>
        <Button kind='primary' icon='check' onClick={onStored}>{texts.stored}</Button>
      </div>
      <LeaveGuard isActive texts={texts.leave} />
    </Screen>
  )
}

/** Shows a webhook's new secret, and how to use it. */
export function WebhookSecret (
  { webhook, onStored }: { webhook: WebhookWithSecret | RotatedWebhook, onStored: () => void }
) {
  const { messages: { secret: texts, endpoint: { rotate } }, text, instant } = usePortal()
  const previousEnd = 'previous_secret_expires_at' in webhook ? webhook.previous_secret_expires_at : undefined
  const about = (
    <>
      <p class='muted'>{texts.store}</p>
      {previousEnd !== undefined && (
        <p>{previousEnd === null ? rotate.ended : text(texts.bothUntil, { time: instant(previousEnd) })}</p>
      )}
    </>
  )
  return (
    <SecretScreen
      title={previousEnd === undefined ? texts.created : texts.rotated} intro={texts.intro} label={texts.label}
      secret={webhook.secret} about={about} onStored={onStored}
    >
      <VerifyCode />
    </SecretScreen>
  )
}

/** Code that verifies a request, in four languages, of which one is open. */
function VerifyCode () {
  const { messages: { secret: { verify } }, text } = usePortal()
  return (
    <section class='section'>
      <h2>{verify.title}</h2>
      <p class='muted'>{verify.text}</p>
      {Object.entries(verifyCodes).map(([name, code], index) => (
        <details key={name} name='language' open={index === 0}>
          <summary>{name}</summary>
          <CodeBlock code={code} label={text(verify.code, { language: name })} />
        </details>
      ))}
    </section>
  )
}

const graces = [['none', 0], ['hour', 3600], ['day', 86_400], ['week', 604_800]] as const

interface RotateDialogProps<Value> {
  texts: { title: string, label: string, text: string, grace: string }
  /** The hint of the choice to expire the old secret immediately. */
  noneText?: string
  rotate: (options: { grace_period_seconds: number }) => Promise<Result<Value>>
  onRotated: (value: Value) => void
  onClose: () => void
}

/** Asks how long an old secret or key stays valid, and rotates it. */
export function RotateDialog<Value> ({ texts, noneText, rotate, onRotated, onClose }: RotateDialogProps<Value>) {
  const { messages: { endpoint: { rotate: words } } } = usePortal()
  const [seconds, setSeconds] = useState<number>(86_400)
  return (
    <Confirm
      title={texts.title} label={texts.label} onClose={onClose}
      act={() => rotate({ grace_period_seconds: seconds })} onDone={onRotated}
    >
      <p>{texts.text}</p>
      <Choices
        legend={texts.grace}
        chosen={seconds}
        onChoose={setSeconds}
        choices={graces.map(([name, value]) => ({
          value, label: words[name], hint: name === 'none' ? noneText : undefined
        }))}
      />
    </Confirm>
  )
}
