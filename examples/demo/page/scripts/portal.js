import { postDemo } from './api.js'
import { createSegments, find, h } from './dom.js'

const address = new URL('/api/v1/public/portal/', location)
const languages = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español', nl: 'Nederlands', pt: 'Português' }

/** Embeds the portal in a frame, like an ATS's settings page, for the selected user and language. */
export function createPortal () {
  let visitor = { tenant: '', actor: 'admin', locale: 'en' }
  let frame = null

  const pressActor = createSegments(
    find('#actors'),
    [
      { value: 'admin', label: 'Admin' },
      { value: 'reader', label: 'Reader' }
    ],
    (actor) => open({ actor })
  )
  const locales = find('#locales')
  locales.replaceChildren(...Object.entries(languages).map(([value, label]) => h('option', { value }, label)))
  locales.addEventListener('change', () => open({ locale: locales.value }))

  /** Opens the portal in a new frame. It asks for a session once it has loaded. */
  function open (changes) {
    visitor = { ...visitor, ...changes }
    pressActor(visitor.actor)
    frame = h('iframe', { title: 'Webhooks', allow: 'clipboard-write', src: address.href })
    find('#portal').replaceChildren(frame)
  }

  // The portal asks for a session, and for another one a minute before it expires.
  addEventListener('message', async ({ source, origin, data }) => {
    if (
      source !== frame?.contentWindow ||
      origin !== address.origin ||
      data.type !== 'recruiting-webhooks:session-needed'
    ) { return }
    const { url } = await postDemo('portal/session', visitor)
    source.postMessage({ type: 'recruiting-webhooks:session', url }, origin)
  })

  return { open: (tenant) => open({ tenant }) }
}
