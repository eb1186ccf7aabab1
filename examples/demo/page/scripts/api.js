import { copy } from './copy.js'
import { h } from './dom.js'

/** Creates a client that reads the API for one tenant, like a customer's own. */
export function createApi (slug, key) {
  return {
    async get (path) {
      const url = `/api/v1/public/${slug}${path}`
      const started = performance.now()
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
      const { data, meta, error } = await response.json()
      const request = { url, key, status: response.status, ms: performance.now() - started }
      return { request, data, meta, fault: error === undefined ? null : formatError(error) }
    }
  }
}

/** Sends a request to the demo itself, outside the API. */
export async function postDemo (path, body = {}) {
  const response = await fetch(`/demo/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return response.json()
}

/** Shows a request with its response's status and a button that copies it as a curl command. */
export function showRequest (element, { url, key, status, ms }) {
  const button = h('button', {
    type: 'button',
    class: 'quiet',
    click: () => copy(button, `curl -g '${location.origin}${url}' -H 'Authorization: Bearer ${key}'`)
  }, 'Copy as curl')
  element.replaceChildren(
    h('code', {}, h('b', {}, 'GET'), ` ${decodeURIComponent(url)}`),
    h(
      'span',
      { class: 'response' },
      h('span', {}, h('span', { class: status < 400 ? 'good' : 'bad' }, String(status)), ` in ${Math.round(ms)} ms`),
      button
    )
  )
}

function formatError ({ message, details = [] }) {
  return [message, ...details.map(({ field, message: detail }) => `${field} ${detail}`)].join(': ')
}
