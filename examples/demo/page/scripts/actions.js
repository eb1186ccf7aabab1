import { postDemo } from './api.js'
import { confirm } from './confirm.js'
import { find } from './dom.js'

const nothingYet = 'Press a button. Its result appears here.'
const simulates = 'The demo also simulates recruiters at work, every few seconds.'

/** Creates the ATS's buttons. Shows the result of the last action. */
export function createActions () {
  const background = find('#background')
  let slug
  let isPaused = false

  for (const button of document.querySelectorAll('[data-action]')) {
    button.addEventListener('click', async () => {
      const tenant = slug
      const { sentence } = await postDemo(`happen/${tenant}/${button.dataset.action}`)
      // The page may have switched to another customer.
      if (slug === tenant) tell(`${sentence}.`)
    })
  }
  background.addEventListener('click', () => postDemo('background', { isPaused: !isPaused }))
  find('#reset').addEventListener('click', async () => {
    const isSure = await confirm({
      title: 'Reset the demo?',
      text: 'The demo starts over. Your webhooks and all changes since the start will be lost.',
      action: 'Reset the demo'
    })
    if (!isSure) return
    await postDemo('reset')
    tell('The demo is starting over.')
  })

  return {
    open (nextSlug) {
      slug = nextSlug
      tell(nothingYet)
    },
    showState (state) {
      const wasPaused = isPaused
      isPaused = state.isPaused
      background.textContent = isPaused ? 'Resume background activity' : 'Pause background activity'
      if (isPaused !== wasPaused) {
        find('#background-news').textContent = isPaused ? 'Background activity is paused.' : simulates
      }
    },
    showBackground (sentence) { find('#background-news').textContent = `Background: ${sentence}.` }
  }
}

/** Shows the result of the user's last action. */
export function tell (sentence) {
  find('#feedback').textContent = sentence
}
