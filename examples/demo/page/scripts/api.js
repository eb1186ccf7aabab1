import { h } from './dom.js'

/** Creates a client of the API for one tenant, as a customer would write it. */
export function createApi (slug, key) {
  const base = `/api/v1/public/${slug}`

  async function call (method, path, body) {
    const started = performance.now()
    const answer = await fetch(base + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    const ms = performance.now() - started
    const request = { method, path: base + path, status: answer.status, ms, curl: formatCurl({ method, path: base + path, key, body }) }
    const { data, meta, error } = text === '' ? {} : JSON.parse(text)
    return { request, data, meta, fault: error === undefined ? null : formatError(error) }
  }

  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    remove: (path) => call('DELETE', path),
    /** Describes a GET request without sending it, for `showRequest`. */
    describe: (path) => ({ method: 'GET', path: base + path, status: null, curl: formatCurl({ method: 'GET', path: base + path, key }) })
  }
}

/** Sends a request to the demo itself, outside the API. */
export async function postDemo (path, body = {}) {
  const answer = await fetch(`/demo/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return answer.json()
}

/** Shows a request with the status of its response and a button that copies it as a curl command. */
export function showRequest (element, { method, path, status, ms, curl }) {
  const copy = h('button', {
    type: 'button',
    class: 'quiet',
    async click () {
      await navigator.clipboard.writeText(curl)
      copy.textContent = 'Copied'
    }
  }, 'Copy as curl')
  const answer = status === null ? null : h('span', {}, h('span', { class: status < 400 ? 'good' : 'bad' }, String(status)), ` in ${Math.round(ms)} ms`)
  element.replaceChildren(
    h('code', {}, h('b', {}, method), ` ${decodeURIComponent(path)}`),
    h('span', { class: 'answer' }, answer, copy)
  )
}

function formatError ({ message, details = [] }) {
  return [message, ...details.map(({ field, message: detail }) => `${field} ${detail}`)].join(': ')
}

function formatCurl ({ method, path, key, body }) {
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const content = body === undefined ? '' : ` -H 'Content-Type: application/json' -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
  return `curl -g${verb} '${location.origin}${path}' -H 'Authorization: Bearer ${key}'${content}`
}
