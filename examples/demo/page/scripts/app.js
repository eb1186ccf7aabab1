import { createApi } from './api.js'
import { createChart } from './chart.js'
import { find, h, press } from './dom.js'
import { createInbox } from './inbox.js'
import { createLists } from './lists.js'
import { createWebhooks } from './webhooks.js'

const { receiverUrl, jobStatuses, tenants } = await (await fetch('/demo/setting')).json()
let tenant = tenants[0]
let messages = []

/** Says what has happened. */
function tell (sentence) {
  find('#news').textContent = sentence
}

/** Asks the demo itself for something that is no business of the API. */
async function post (path, body = {}) {
  const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return answer.json()
}

const lists = createLists()
const webhooks = createWebhooks({ receiverUrl, tell: Object.assign(tell, { post }) })
// What comes before is history, told to a page that was opened now.
let isLive = false
const inbox = createInbox({ ...webhooks, isLive: () => isLive })
const chart = createChart()

const buttons = tenants.map((choice) => h('button', { type: 'button', click: () => open(choice) }, choice.slug))
find('#tenants').append(...buttons)

async function open (choice) {
  tenant = choice
  press(buttons, buttons[tenants.indexOf(choice)])
  for (const name of document.querySelectorAll('.tenant-name')) name.textContent = choice.slug
  const api = createApi(choice)
  await Promise.all([lists.open(api, { ...choice, jobStatuses }), webhooks.open(api, choice.slug)])
  inbox.clear()
  chart.clear()
  const wasLive = isLive
  isLive = false
  messages.forEach(show)
  isLive = wasLive
  chart.draw()
}

function show (message) {
  const { kind } = message
  if (kind === 'arrival' && message.path.split('/')[0] === tenant.slug) inbox.arrive(message)
  if (kind === 'attempt' && message.tenantSlug === tenant.slug) {
    inbox.attempt(message)
    chart.add(message)
  }
}

addEventListener('unhandledrejection', () => tell('The demo does not answer. Is it still running?'))

let reloading
function listen () {
  const feed = new EventSource('/demo/feed')
  feed.addEventListener('caught-up', () => {
    isLive = true
    chart.draw()
  })
  let isLost = false
  feed.addEventListener('open', () => {
    // Another demo may answer by now, with other webhooks.
    if (isLost) location.reload()
    setState('live', 'good')
  })
  feed.addEventListener('error', () => {
    isLost = true
    setState('connection lost, trying again', 'bad')
  })
  feed.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data)
    messages = [...messages.slice(-400), message]
    show(message)
    if (message.kind === 'outage') startOutage(message.untilMs)
    if (!isLive || message.kind !== 'news' || message.tenantSlug !== tenant.slug) return
    tell(message.sentence)
    clearTimeout(reloading)
    reloading = setTimeout(lists.reload, 200)
  })
}

function setState (text, tone) {
  const state = find('#feed-state')
  state.textContent = text
  state.className = `state ${tone}`
}

for (const button of document.querySelectorAll('[data-action]')) {
  button.addEventListener('click', async () => {
    const { sentence } = await post(`/demo/happen/${tenant.slug}/${button.dataset.action}`)
    tell(sentence)
  })
}
find('#forge').addEventListener('click', async () => {
  const { status } = await post('/demo/receiver/forge', { path: tenant.slug })
  tell(`Somebody without the secret told of a hire. The receiver answered ${status}.`)
})

const outage = find('#outage')
outage.addEventListener('click', async () => {
  await post('/demo/receiver/fail', { seconds: 20 })
  tell('The receiver answers with 500 for 20 seconds. What is given up meanwhile can be replayed.')
})
function startOutage (untilMs) {
  const seconds = Math.ceil((untilMs - Date.now()) / 1000)
  outage.disabled = seconds > 0
  outage.textContent = seconds > 0 ? `Broken for ${seconds} s` : 'Break the receiver'
  if (seconds > 0) setTimeout(startOutage, 250, untilMs)
}

await open(tenant)
listen()
