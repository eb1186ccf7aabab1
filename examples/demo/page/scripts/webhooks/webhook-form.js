import { find } from '../dom.js'

/** Creates the form for a new webhook. Each webhook gets its own path, so that the receiver can distinguish them. */
export function createForm ({ receiverUrl, create }) {
  const form = find('#create')
  const opener = find('#create-open')
  let slug

  function show (isShown) {
    form.hidden = !isShown
    opener.setAttribute('aria-expanded', String(isShown))
  }

  opener.addEventListener('click', () => {
    show(form.hidden)
    if (!form.hidden) form.elements.name.select()
  })

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { name, events } = form.elements
    const { webhooks } = await (await fetch('/api/v1/public/openapi.json')).json()
    await create({
      name: name.value,
      target_url: `${receiverUrl}/${slug}/${Math.random().toString(36).slice(2, 8)}`,
      event_types: Object.keys(webhooks).filter((type) => type.startsWith(events.value))
    })
    show(false)
    opener.focus()
  })

  return {
    open (nextSlug) {
      slug = nextSlug
      show(false)
    },
    setAvailable (isAvailable) {
      opener.hidden = !isAvailable
      if (!isAvailable) show(false)
    }
  }
}
