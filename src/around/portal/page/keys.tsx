import { useState } from 'preact/hooks'
import { type CreatedApiKey, type ApiKey, messageFor, type RevokedApiKey, type RotatedApiKey } from './api.js'
import { useAction, useNow, usePagedQuery, usePortal } from './hooks.js'
import { Button, Link } from './parts/controls.js'
import { Instant, Name, Problem, Status, TimeAgo } from './parts/feedback.js'
import { Check, Checks, TextField, useForm } from './parts/fields.js'
import { AddLink, Confirm, LeaveGuard, ListScreen, Screen } from './parts/frames.js'
import { RotateDialog, SecretScreen } from './secret.js'

/** The tenant's API keys. */
export function KeysScreen () {
  const { api, messages: { keys: texts } } = usePortal()
  const [rotated, setRotated] = useState<RotatedApiKey | null>(null)
  const list = usePagedQuery(api.apiKeys.list)
  if (rotated !== null) {
    const close = () => {
      setRotated(null)
      list.reload()
    }
    return <KeySecret created={rotated} onStored={close} />
  }
  return (
    <ListScreen
      title={texts.title} intro={texts.intro} list={list} empty={texts.empty}
      add={<AddLink to={{ screen: 'newKey' }}>{texts.add}</AddLink>}
    >
      {(key) => <KeyRow key={key.id} apiKey={key} onRotated={setRotated} onChanged={list.reload} />}
    </ListScreen>
  )
}

/** The name of a key, or how users recognize it without one. */
export function nameOf ({ name, start, id }: ApiKey): string {
  return name ?? start ?? id
}

interface KeyRowProps {
  apiKey: ApiKey
  onRotated: (key: RotatedApiKey) => void
  onChanged: () => void
}

function KeyRow ({ apiKey: key, onRotated, onChanged }: KeyRowProps) {
  const { api, announce, can, keys, focusTitle, messages: { keys: texts }, text, list } = usePortal()
  const now = useNow(30_000)
  const [open, setOpen] = useState<'rotate' | 'revoke' | null>(null)
  const [also, setAlso] = useState({ children: false, webhooks: false })
  const creator = key.created_by.id
  const name = nameOf(key)
  const isEnded = key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= now)
  // A hint: the server rejects rotating a key with more rights than customers can grant.
  const isRotatable = !key.replaced && key.scopes.every((scope) => keys?.scopes.includes(scope) === true)
  const limits = [
    key.allowed_ips && text(texts.from, { networks: list(key.allowed_ips) }),
    key.candidate_fields && text(texts.candidateFields, { fields: list(['id', ...key.candidate_fields]) }),
    key.job_fields && text(texts.jobFields, { fields: list(['id', ...key.job_fields]) })
  ].filter((limit) => limit !== null)
  const rotateTitle = text(texts.rotateTitle, { name })
  const revokeTitle = text(texts.revokeTitle, { name })
  const close = () => setOpen(null)
  const revoke = () => api.apiKeys.revoke(key.id, {
    children: also.children, webhooks: also.webhooks ? 'disable' : 'keep'
  })
  const onRevoked = ({ children_count: keys, webhooks_count: webhooks }: RevokedApiKey) => {
    announce(text(texts.revoked, { name, keys, webhooks }))
    close()
    onChanged()
    focusTitle()
  }
  return (
    <li class='row'>
      <div class='row-main'>
        <h2><Name>{name}</Name> {key.start !== null && <code dir='ltr'>{key.start}…</code>}</h2>
        <p class='url' dir='ltr'>{key.scopes.join(', ')}</p>
        {limits.map((limit) => <p key={limit} class='muted'>{limit}</p>)}
        <p class='muted'>
          {creator === null ? texts.created : text(texts.createdBy, { name: creator })}{' '}
          <Instant at={key.created_at} />
          {' · '}{texts.lastUsed}{' '}{key.last_used_at === null ? texts.never : <TimeAgo at={key.last_used_at} />}
        </p>
      </div>
      <div class='health'>
        <KeyStatus apiKey={key} isEnded={isEnded} />
      </div>
      {!isEnded && (
        <div class='actions'>
          {isRotatable && <Button label={rotateTitle} onClick={() => setOpen('rotate')}>{texts.rotate}</Button>}
          <Button label={revokeTitle} onClick={() => setOpen('revoke')}>{texts.revoke}</Button>
        </div>
      )}
      {open === 'rotate' && (
        <RotateDialog
          texts={{ title: rotateTitle, label: texts.rotate, text: texts.rotateText, grace: texts.grace }}
          rotate={(options) => api.apiKeys.rotate(key.id, options)} onRotated={onRotated} onClose={close}
        />
      )}
      {open === 'revoke' && (
        <Confirm
          title={revokeTitle} label={texts.revoke} kind='danger' act={revoke} onDone={onRevoked} onClose={close}
        >
          <p>{texts.revokeText}</p>
          <div class='checks'>
            <Check
              label={texts.alsoKeys} isChecked={also.children} onChange={(children) => setAlso({ ...also, children })}
            />
            {can('write') && (
              <Check
                label={texts.alsoWebhooks} isChecked={also.webhooks}
                onChange={(webhooks) => setAlso({ ...also, webhooks })}
              />
            )}
          </div>
        </Confirm>
      )}
    </li>
  )
}

function KeyStatus ({ apiKey: key, isEnded }: { apiKey: ApiKey, isEnded: boolean }) {
  const { messages: { keys: { state: texts } } } = usePortal()
  if (key.revoked_at !== null) return <Status tone='off'>{texts.revoked}</Status>
  if (isEnded) return <Status tone='off'>{texts.expired}</Status>
  return (
    <>
      <Status tone={key.replaced ? 'waiting' : 'good'}>{key.replaced ? texts.replaced : texts.active}</Status>
      {key.expires_at !== null && <p class='muted'>{texts.until} <Instant at={key.expires_at} /></p>}
    </>
  )
}

/** Creates a key, then shows it once. */
export function CreateKeyScreen () {
  const { api, keys, leave, messages: { shell, form, keys: texts }, text } = usePortal()
  const scopes = keys?.scopes ?? []
  const maxDays = keys?.maxDays ?? 1
  const [draft, setDraft] = useState({ name: '', networks: '', days: String(maxDays), scopes: [] as string[] })
  const [created, setCreated] = useState<CreatedApiKey | null>(null)
  const networks = draft.networks.split(/[\s,]+/).filter((network) => network !== '')
  const days = Number(draft.days)
  const creating = useAction(
    () => api.apiKeys.create({
      name: draft.name.trim(),
      scopes: draft.scopes,
      allowed_ips: networks.length === 0 ? null : networks,
      expires_in_days: days
    }),
    setCreated
  )
  const faults = {
    name: draft.name.trim() === '' ? form.faults.nameBlank : null,
    scopes: draft.scopes.length === 0 ? texts.noScope : null,
    days: Number.isInteger(days) && days >= 1 && days <= maxDays ? null : text(texts.wrongDays, { days: maxDays })
  }
  const { isChecked, form: formProps } = useForm(Object.values(faults).some((fault) => fault !== null), creating.run)
  if (created !== null) return <KeySecret created={created} onStored={() => leave({ screen: 'keys' })} />
  const errorOf = (field: keyof typeof faults): string | null => isChecked ? faults[field] : null
  const change = (changes: Partial<typeof draft>) => setDraft((previous) => ({ ...previous, ...changes }))
  return (
    <Screen title={texts.add} back={{ to: { screen: 'keys' }, label: texts.title }}>
      <form {...formProps}>
        <TextField
          label={form.name.label} hint={form.name.hint} error={errorOf('name')}
          name='name' required maxLength={255} dir='auto' value={draft.name} onValue={(name) => change({ name })}
        />
        <Checks
          legend={texts.scopes} error={errorOf('scopes')} names={scopes}
          chosen={draft.scopes} onChange={(scopes) => change({ scopes })}
        />
        <TextField
          label={texts.networks} hint={texts.networksHint} error={messageFor(creating.failure, 'allowed_ips')}
          name='allowed_ips' spellcheck={false} dir='ltr' placeholder='203.0.113.0/24'
          value={draft.networks} onValue={(networks) => change({ networks })}
        />
        <TextField
          label={texts.days} hint={text(texts.daysHint, { days: maxDays })} error={errorOf('days')}
          type='number' name='days' min={1} max={maxDays} value={draft.days} onValue={(days) => change({ days })}
        />
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

/** Shows a key once, after it was created or rotated. */
function KeySecret ({ created, onStored }: { created: CreatedApiKey | RotatedApiKey, onStored: () => void }) {
  const { messages: { keys: texts }, text, instant } = usePortal()
  const previous = 'previous_key_expires_at' in created ? created.previous_key_expires_at : null
  return (
    <SecretScreen
      title={texts.ready} intro={texts.readyText} label={texts.key} secret={created.key}
      about={previous !== null && <p>{text(texts.previous, { time: instant(previous) })}</p>} onStored={onStored}
    />
  )
}
