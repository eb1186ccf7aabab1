import { find } from './dom.js'

/**
 * Reads the demo's feed. Calls `onEntry` for each entry, with `isLive` false for entries older than the page, and
 * `onState` with the state of the switches.
 */
export function listen ({ onEntry, onState }) {
  const source = new EventSource('/demo/feed')
  let isLive = false
  let isLost = false

  source.addEventListener('open', () => {
    // The demo may have restarted with other webhooks.
    if (isLost) location.reload()
    setState('Live', 'good')
  })
  source.addEventListener('error', () => {
    isLost = true
    setState('Connection lost, trying again', 'bad')
    // Some browsers stop retrying when the connection is refused.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 1000)
  })
  source.addEventListener('caught-up', ({ data }) => {
    isLive = true
    onState(JSON.parse(data))
  })
  source.addEventListener('message', ({ data }) => onEntry(JSON.parse(data), isLive))
}

function setState (text, tone) {
  const state = find('#feed-state')
  state.textContent = text
  state.className = `state ${tone}`
}
