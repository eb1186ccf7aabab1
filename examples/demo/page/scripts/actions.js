import { postDemo } from './api.js'
import { confirm } from './confirm.js'
import { createSegments, find } from './dom.js'

const modes = [
  { value: 'working', label: 'Working', says: 'It answers 204, but 500 to one event in ten, to show a retry.' },
  { value: 'broken', label: 'Broken', says: 'It answers 500. Deliveries are retried, then given up.' },
  { value: 'gone', label: 'Gone', says: 'It answers 410 Gone. The next delivery disables its webhook.' }
]

/** Creates the buttons and switches that are not part of the API. Shows the result of the last one pressed. */
export function createActions () {
  const background = find('#background')
  let slug
  let state = { modes: {}, isPaused: false }

  const pressMode = createSegments(find('#receiver'), modes, async (mode) => {
    await postDemo('receiver/mode', { tenant: slug, mode })
    const others = mode === 'working' ? 'Deliveries that were given up can be replayed.' : 'Other customers are not affected.'
    tell(`The receiver of ${slug} is ${mode}. ${others}`)
  })

  function show (nextState = state) {
    state = nextState
    const mode = state.modes[slug] ?? 'working'
    pressMode(mode)
    find('#receiver-says').textContent = modes.find(({ value }) => value === mode).says
    background.textContent = state.isPaused ? 'Resume background activity' : 'Pause background activity'
    if (state.isPaused) find('#background-news').textContent = 'Background activity is paused.'
  }

  for (const button of document.querySelectorAll('[data-action]')) {
    button.addEventListener('click', async () => tell(`${(await postDemo(`happen/${slug}/${button.dataset.action}`)).sentence}.`))
  }
  find('#forge').addEventListener('click', async () => {
    const { status } = await postDemo('receiver/forge', { tenant: slug })
    tell(`A forged hire was sent to ${slug} without the secret. The receiver answered ${status}.`)
  })
  background.addEventListener('click', () => postDemo('background', { isPaused: !state.isPaused }))
  find('#reset').addEventListener('click', async () => {
    const isSure = await confirm({
      title: 'Reset the demo?',
      text: 'The demo starts over. Your webhooks and all changes since the start are lost.',
      action: 'Reset the demo'
    })
    if (!isSure) return
    await postDemo('reset')
    tell('The demo starts over.')
  })

  return {
    open (nextSlug) {
      slug = nextSlug
      show()
    },
    show,
    showBackground (sentence) { find('#background-news').textContent = `Background: ${sentence}.` }
  }
}

/** Shows the result of the last action of the user. */
export function tell (sentence) {
  find('#feedback').textContent = sentence
}
