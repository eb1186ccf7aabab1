import { useId, useRef, useState } from 'preact/hooks'
import { type ApiKey, type CreatedApiKey, messageFor, type RotatedApiKey } from './api.js'
import { useAction, useFormat, useNow, usePortal, useQuery } from './hooks.js'
import { Button, Copy, Field, Icon, Link, Pager, useErrorFocus } from './parts/controls.js'
import { AskDialog, LeaveGuard } from './parts/dialogs.js'
import { Empty, Instant, Name, Problem, Skeleton, Status, TimeAgo } from './parts/feedback.js'
import { Screen } from './shell.js'

/** Links to the two parts of the portal, if the session manages keys. */
export function Sections () {
  const { can, keys, route, format: { messages: { shell, keys: texts } } } = usePortal()
  if (keys === null || !can('keys')) return null
  const sections = [['endpoints', shell.title], ['keys', texts.title]] as const
  return (
    <nav class='sections' aria-label={texts.sections}>
      {sections.map(([screen, label]) => (
        <Link key={screen} to={{ screen }} look='section-link' isCurrent={route.screen === screen}>{label}</Link>
      ))}
    </nav>
  )
}

/** The API keys of the tenant. */
export function KeysScreen () {
  const { api } = usePortal()
  const { messages: { keys: texts } } = useFormat()
  const [page, setPage] = useState(1)
  const [rotated, setRotated] = useState<RotatedApiKey | null>(null)
  const list = useQuery((signal) => api.listApiKeys({ page, per_page: 25 }, signal), [page])
  if (rotated !== null) {
    const close = () => {
      setRotated(null)
      list.reload()
    }
    return <KeySecret created={rotated} onStored={close} />
  }
  const add = (
    <Link to={{ screen: 'newKey' }} look='button button-primary'><Icon name='plus' /> <span>{texts.add}</span></Link>
  )
  const isEmpty = list.value?.meta.total === 0
  return (
    <Screen title={texts.title} intro={texts.intro} actions={isEmpty ? undefined : add}>
      {list.failure !== null && <Problem failure={list.failure} onRetry={list.reload} isBusy={list.isLoading} />}
      {list.value === null && list.failure === null && <Skeleton lines={4} />}
      {isEmpty && <Empty title={texts.empty.title} action={add}>{texts.empty.text}</Empty>}
      {list.value !== null && !isEmpty && (
        <>
          <ul class='rows' aria-label={texts.title} aria-busy={list.isLoading}>
            {list.value.data.map((key) => (
              <KeyRow key={key.id} apiKey={key} onRotated={setRotated} onChanged={list.reload} />
            ))}
          </ul>
          <Pager page={page} pages={list.value.meta.total_pages} onPage={setPage} isBusy={list.isLoading} />
        </>
      )}
    </Screen>
  )
}

interface KeyRowProps {
  apiKey: ApiKey
  onRotated: (key: RotatedApiKey) => void
  onChanged: () => void
}

function KeyRow ({ apiKey: key, onRotated, onChanged }: KeyRowProps) {
  const { keys } = usePortal()
  const { messages: { keys: texts }, text, list } = useFormat()
  const now = useNow(30_000)
  const [open, setOpen] = useState<'rotate' | 'revoke' | null>(null)
  const name = key.name ?? key.start ?? key.id
  const isEnded = key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= now)
  // The server decides: it rotates no key with more rights than customers may grant.
  const isRotatable = !key.replaced && key.scopes.every((scope) => keys?.scopes.includes(scope) === true)
  const limits = [
    key.allowed_ips && text(texts.from, { networks: list(key.allowed_ips) }),
    key.candidate_fields && text(texts.candidateFields, { fields: list(['id', ...key.candidate_fields]) }),
    key.job_fields && text(texts.jobFields, { fields: list(['id', ...key.job_fields]) })
  ].filter((limit) => limit !== null)
  const close = () => setOpen(null)
  return (
    <li class='row'>
      <div class='row-main'>
        <h2><Name>{name}</Name> {key.start !== null && <code dir='ltr'>{key.start}…</code>}</h2>
        <p class='url' dir='ltr'>{key.scopes.join(', ')}</p>
        {limits.map((limit) => <p key={limit} class='muted'>{limit}</p>)}
        <p class='muted'>
          {key.created_by === null ? texts.created : text(texts.createdBy, { name: key.created_by })}{' '}
          <Instant at={key.created_at} />
          {' · '}{texts.lastUsed}{' '}{key.last_used_at === null ? texts.never : <TimeAgo at={key.last_used_at} />}
        </p>
      </div>
      <div class='health'>
        <KeyStatus apiKey={key} isEnded={isEnded} />
      </div>
      {!isEnded && (
        <div class='actions'>
          {isRotatable && (
            <Button label={text(texts.rotateTitle, { name })} onClick={() => setOpen('rotate')}>{texts.rotate}</Button>
          )}
          <Button kind='danger' label={text(texts.revokeTitle, { name })} onClick={() => setOpen('revoke')}>
            {texts.revoke}
          </Button>
        </div>
      )}
      {open === 'rotate' && <RotateKey id={key.id} name={name} onRotated={onRotated} onClose={close} />}
      {open === 'revoke' && <RevokeKey id={key.id} name={name} onRevoked={onChanged} onClose={close} />}
    </li>
  )
}

function KeyStatus ({ apiKey: key, isEnded }: { apiKey: ApiKey, isEnded: boolean }) {
  const { messages: { keys: { state: texts } } } = useFormat()
  if (key.revoked_at !== null) return <Status tone='off'>{texts.revoked}</Status>
  if (isEnded) return <Status tone='off'>{texts.expired}</Status>
  return (
    <>
      <Status tone={key.replaced ? 'waiting' : 'good'}>{key.replaced ? texts.replaced : texts.active}</Status>
      {key.expires_at !== null && <p class='muted'>{texts.until} <Instant at={key.expires_at} /></p>}
    </>
  )
}

interface KeyDialogProps {
  id: string
  name: string
  onClose: () => void
}

const graces = [['none', 0], ['hour', 3600], ['day', 86_400], ['week', 604_800]] as const

function RotateKey ({ id, name, onRotated, onClose }: KeyDialogProps & { onRotated: (key: RotatedApiKey) => void }) {
  const { api } = usePortal()
  const { messages: { keys: texts, endpoint: { rotate } }, text } = useFormat()
  const [seconds, setSeconds] = useState<number>(86_400)
  const rotating = useAction(() => api.rotateApiKey(id, seconds))
  const confirm = async () => {
    const data = (await rotating.run())?.value?.data
    if (data !== undefined) onRotated(data)
  }
  return (
    <AskDialog
      title={text(texts.rotateTitle, { name })} label={texts.rotate} action={rotating} onConfirm={confirm}
      onClose={onClose}
    >
      <p>{texts.rotateText}</p>
      <fieldset class='options'>
        <legend>{texts.grace}</legend>
        {graces.map(([grace, value]) => (
          <label key={grace}>
            <input type='radio' name='grace' checked={value === seconds} onChange={() => setSeconds(value)} />
            <span>{rotate[grace]}</span>
          </label>
        ))}
      </fieldset>
    </AskDialog>
  )
}

function RevokeKey ({ id, name, onRevoked, onClose }: KeyDialogProps & { onRevoked: () => void }) {
  const { api, announce, title } = usePortal()
  const { messages: { keys: texts }, text } = useFormat()
  const revoking = useAction(() => api.revokeApiKey(id))
  const confirm = async () => {
    const result = await revoking.run()
    if (result === null || result.failure !== null) return
    announce(text(texts.revoked, { name }))
    onClose()
    onRevoked()
    title.current?.focus()
  }
  return (
    <AskDialog
      title={text(texts.revokeTitle, { name })} label={texts.revoke} action={revoking} onConfirm={confirm}
      onClose={onClose} kind='danger'
    >
      <p>{texts.revokeText}</p>
    </AskDialog>
  )
}

/** Creates a key, then shows it once. */
export function CreateKeyScreen () {
  const { api, keys, leave } = usePortal()
  const { messages: { shell, form, keys: texts }, text } = useFormat()
  const scopes = keys?.scopes ?? []
  const maxDays = keys?.maxDays ?? 1
  const [draft, setDraft] = useState({ name: '', networks: '', days: String(maxDays), scopes: [] as string[] })
  const [isChecked, setChecked] = useState(false)
  const [created, setCreated] = useState<CreatedApiKey | null>(null)
  const element = useRef<HTMLFormElement>(null)
  const focusFirstError = useErrorFocus(element)
  const id = useId()
  const networks = draft.networks.split(/[\s,]+/).filter((network) => network !== '')
  const days = Number(draft.days)
  const creating = useAction(() => api.createApiKey({
    name: draft.name.trim(),
    scopes: draft.scopes,
    allowed_ips: networks.length === 0 ? null : networks,
    expires_in_days: days
  }))
  if (created !== null) return <KeySecret created={created} onStored={() => leave({ screen: 'keys' })} />
  const faults = {
    name: draft.name.trim() === '' ? form.faults.nameBlank : null,
    scopes: draft.scopes.length === 0 ? texts.noScope : null,
    days: Number.isInteger(days) && days >= 1 && days <= maxDays ? null : text(texts.wrongDays, { days: maxDays })
  }
  const errorOf = (field: keyof typeof faults): string | null => isChecked ? faults[field] : null
  const submit = async (event: Event) => {
    event.preventDefault()
    setChecked(true)
    if (Object.values(faults).some((fault) => fault !== null)) return focusFirstError()
    const result = await creating.run()
    if (result?.value) setCreated(result.value.data)
    else focusFirstError()
  }
  const change = (changes: Partial<typeof draft>) => setDraft((previous) => ({ ...previous, ...changes }))
  const scopeError = errorOf('scopes')
  return (
    <Screen title={texts.add} back={{ to: { screen: 'keys' }, label: texts.title }}>
      <form ref={element} class='form' noValidate onSubmit={submit}>
        <Field label={form.name.label} hint={form.name.hint} error={errorOf('name')}>
          {(control) => (
            <input
              {...control} type='text' name='name' autoComplete='off' required maxLength={255} dir='auto'
              value={draft.name} onInput={({ currentTarget }) => change({ name: currentTarget.value })}
            />
          )}
        </Field>
        <fieldset class='options' aria-describedby={scopeError === null ? undefined : `${id}-scopes`}>
          <legend>{texts.scopes}</legend>
          {scopes.map((scope) => (
            <label key={scope}>
              <input
                type='checkbox' checked={draft.scopes.includes(scope)} aria-invalid={scopeError !== null}
                onChange={({ currentTarget: { checked } }) => change({
                  scopes: scopes.filter((one) => one === scope ? checked : draft.scopes.includes(one))
                })}
              />
              <code dir='ltr'>{scope}</code>
            </label>
          ))}
          {scopeError !== null && (
            <p class='field-error' id={`${id}-scopes`}><Icon name='bad' /> <span>{scopeError}</span></p>
          )}
        </fieldset>
        <Field label={texts.networks} hint={texts.networksHint} error={messageFor(creating.failure, 'allowed_ips')}>
          {(control) => (
            <input
              {...control} type='text' name='allowed_ips' autoComplete='off' spellcheck={false} dir='ltr'
              placeholder='203.0.113.0/24' value={draft.networks}
              onInput={({ currentTarget }) => change({ networks: currentTarget.value })}
            />
          )}
        </Field>
        <Field label={texts.days} hint={text(texts.daysHint, { days: maxDays })} error={errorOf('days')}>
          {(control) => (
            <input
              {...control} type='number' name='days' min={1} max={maxDays} value={draft.days}
              onInput={({ currentTarget }) => change({ days: currentTarget.value })}
            />
          )}
        </Field>
        {creating.failure !== null && <Problem failure={creating.failure} />}
        <div class='actions'>
          <Button kind='primary' type='submit' isBusy={creating.isBusy}>{texts.add}</Button>
          <Link to={{ screen: 'keys' }} look='button button-quiet'>{shell.cancel}</Link>
        </div>
        <LeaveGuard isActive={draft.name !== '' || draft.scopes.length > 0} texts={form.leave} />
      </form>
    </Screen>
  )
}

/** Shows a key once, after it was created or rotated. It is neither in the history nor in the browser's storage. */
function KeySecret ({ created, onStored }: { created: CreatedApiKey | RotatedApiKey, onStored: () => void }) {
  const { messages: { keys: texts, secret }, text, instant } = useFormat()
  const previous = 'previous_key_expires_at' in created ? created.previous_key_expires_at : null
  return (
    <Screen title={texts.ready} intro={texts.readyText}>
      <section class='section secret' aria-label={texts.key}>
        <h2>{texts.key}</h2>
        <p class='secret-value'>
          <code dir='ltr'>{created.key}</code> <Copy text={created.key} label={texts.key} />
        </p>
        {previous !== null && <p>{text(texts.previous, { time: instant(previous) })}</p>}
      </section>
      <div class='actions'>
        <Button kind='primary' icon='check' onClick={onStored}>{secret.stored}</Button>
      </div>
      <LeaveGuard isActive texts={secret.leave} />
    </Screen>
  )
}
