import { tell } from './actions.js'
import { postDemo } from './api.js'
import { copy } from './copy.js'
import { createSegments, find } from './dom.js'
import { createRequest } from './request.js'

const keptRequests = 60

const modes = [
  { value: 'working', label: 'Working', says: 'Returns 204, but 500 for one event in ten, to show a retry.' },
  { value: 'broken', label: 'Broken', says: 'Returns 500. Deliveries are retried, then fail.' },
  { value: 'gone', label: 'Gone', says: 'Returns 410 Gone. The next delivery disables its webhook.' }
]

/** Creates the receiver's switches, and shows its requests. */
export function createReceiver ({ receiverUrl, retries }) {
  const list = find('#requests')
  let slug
  let modeByTenant = {}

  const pressMode = createSegments(find('#modes'), modes, async (mode) => {
    await postDemo('receiver/mode', { tenant: slug, mode })
    const others =
      mode === 'working' ? 'Replay in the portal sends failed deliveries again.' : 'Other customers are not affected.'
    tell(`The receiver of ${slug} is ${mode}. ${others}`)
  })

  function showMode () {
    const mode = modeByTenant[slug] ?? 'working'
    pressMode(mode)
    const { says } = modes.find(({ value }) => value === mode)
    find('#modes-says').textContent = says
    find('#retries').hidden = mode === 'gone'
  }

  find('#retries').textContent = `Retries: ${retries}`
  find('#copy-address').addEventListener('click', ({ target }) => copy(target, find('#address').textContent))

  find('#forge').addEventListener('click', async () => {
    const { status } = await postDemo('receiver/forge', { tenant: slug })
    tell(`A forged hire was sent to ${slug} without the secret. The receiver returned ${status}.`)
  })

  find('#trust').addEventListener('submit', async (event) => {
    event.preventDefault()
    await postDemo('receiver/trust', { tenant: slug, secret: event.target.elements.secret.value })
    event.target.reset()
    tell(`The receiver of ${slug} now also accepts requests signed with this secret.`)
  })

  return {
    open (nextSlug) {
      slug = nextSlug
      list.replaceChildren()
      find('#requests-empty').hidden = false
      find('#address').textContent = `${receiverUrl}/${slug}/crm`
      find('#trust').reset()
      showMode()
    },
    showState (state) {
      modeByTenant = state.modes
      showMode()
    },
    add (arrival, isLive) {
      list.prepend(createRequest(arrival, isLive))
      find('#requests-empty').hidden = true
      if (list.children.length > keptRequests) list.lastElementChild.remove()
    }
  }
}
