import { showRequest } from './api.js'
import { createSegments, find, h } from './dom.js'
import { createResources } from './resources.js'

const perPage = 8

/** Shows one of the API's lists at a time. */
export function createLists (catalogue) {
  const resources = createResources(catalogue)
  const form = find('#filters')
  const { q, choice, sort } = form.elements
  const press = createSegments(
    find('#resources'),
    Object.entries(resources).map(([value, { label }]) => ({ value, label })),
    choose
  )
  let api
  let tenant
  let resource = 'candidates'
  let page = 1
  let requestCount = 0
  let shown = { query: '', ids: [] }

  async function load () {
    requestCount += 1
    const number = requestCount
    const query = formatQuery()
    const { request, data = [], meta, fault } = await api.get(`/${resource}?${query}`)
    // A newer request is in flight.
    if (number !== requestCount) return
    showRequest(find('#list-request'), request)
    find('#range').textContent = fault ?? formatRange(meta)
    find('#previous').disabled = fault !== null || page === 1
    find('#next').disabled = fault !== null || page >= meta.total_pages
    find('#rows').hidden = data.length === 0
    find('#rows-empty').hidden = data.length > 0 || fault !== null
    const isSame = query === shown.query
    find('#rows tbody').replaceChildren(...data.map((row) => {
      return h(
        'tr',
        { class: isSame && !shown.ids.includes(row.id) ? 'fresh' : null },
        ...resources[resource].cells(row)
      )
    }))
    shown = { query, ids: data.map(({ id }) => id) }
  }

  function formatQuery () {
    const query = [
      ['page', page],
      ['per_page', perPage],
      ['sort', sort.value],
      ['filter[q]', q.value.trim()],
      [resources[resource].filter, choice.value]
    ]
    return query
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&')
  }

  function choose (name) {
    resource = name
    page = 1
    const { label, choice: choiceLabel, choices, sorts, columns } = resources[name]
    press(name)
    find('#choice-label').textContent = choiceLabel
    choice.replaceChildren(...choices(tenant).map(formatOption))
    sort.replaceChildren(...sorts.map(formatOption))
    find('#rows caption').textContent = label
    find('#rows thead').replaceChildren(
      h('tr', {}, ...columns.map(([column, style = null]) => h('th', { scope: 'col', class: style }, column)))
    )
    return load()
  }

  let timer
  form.addEventListener('input', () => {
    page = 1
    clearTimeout(timer)
    timer = setTimeout(load, 150)
  })
  form.addEventListener('submit', (event) => event.preventDefault())
  find('#previous').addEventListener('click', () => { page -= 1; load() })
  find('#next').addEventListener('click', () => { page += 1; load() })

  return {
    open (nextApi, nextTenant) {
      api = nextApi
      if (tenant === nextTenant) return load()
      tenant = nextTenant
      q.value = ''
      return choose(resource)
    },
    reload: load
  }
}

function formatRange ({ page, per_page: size, total }) {
  const first = (page - 1) * size + 1
  return total === 0 ? 'None' : `${first} to ${Math.min(first + size - 1, total)} of ${total}`
}

function formatOption ([value, label]) {
  return h('option', { value: String(value) }, label)
}
