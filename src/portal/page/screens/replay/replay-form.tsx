import { useEffect, useRef, useState } from 'preact/hooks'
import type { ReplayResult, WebhookWithHealth } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { focusFirstError } from '../../parts/field.js'
import { Problem } from '../../parts/problem.js'
import { usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'
import { ReplayCount } from './replay-count.js'
import { ReplayFields } from './replay-fields.js'
import { type Choice, findSinceError } from './selection.js'
import { useCount } from './use-count.js'

interface ReplayFormProps {
  webhook: WebhookWithHealth
  onClose: () => void
  onReplayed: (result: ReplayResult) => void
  /** The webhook was switched off meanwhile. */
  onInactive: () => void
}

const firstChoice: Choice = { range: 'day', since: '', until: '', include: 'undelivered', eventTypes: [] }

/** Chooses events, shows how many they are, and sends exactly these. */
export function ReplayForm ({ webhook, onClose, onReplayed, onInactive }: ReplayFormProps) {
  const { api, announce, format: { messages: { replay: texts, shell }, plural } } = usePortal()
  const [choice, setChoice] = useState(firstChoice)
  const [isTouched, setTouched] = useState(false)
  const fields = useRef<HTMLDivElement>(null)
  const error = findSinceError(choice)
  const count = useCount(webhook.id, choice, error === null)
  const replay = useAction(api.replay)
  // A vendor may leave out why, and the form sends nothing else that is refused.
  const isRefused = [count.failure, replay.failure].some((failure) => failure?.code === 'bad_request')
  useEffect(() => { if (isRefused) onInactive() }, [isRefused])

  const queued = error === null ? count.counted?.queued ?? 0 : 0
  const send = async () => {
    setTouched(true)
    if (error !== null) focusFirstError(fields.current)
    if (queued === 0 || count.counted === null) return
    const result = await replay.run(webhook.id, count.counted.body)
    if (result?.value == null) return
    onReplayed(result.value.data)
    announce(plural(texts.queued, result.value.data.queued))
  }
  const actions = (
    <>
      <Button onClick={onClose} isDisabled={replay.isBusy}>{shell.cancel}</Button>
      <Button kind='primary' type='submit' isBusy={replay.isBusy} isDisabled={queued === 0 && error === null}>
        {queued === 0 ? texts.choose : plural(texts.confirm, queued)}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title} onClose={onClose} isBusy={replay.isBusy} onSubmit={send} actions={actions}>
      <p class='muted'>{texts.intro}</p>
      <div class='replay-fields' ref={fields}>
        <ReplayFields choice={choice} error={isTouched ? error : null} eventTypes={webhook.event_types} onChoice={setChoice} />
      </div>
      {error === null && <ReplayCount count={count} include={choice.include} />}
      {replay.failure !== null && <Problem failure={replay.failure} />}
    </Dialog>
  )
}
