import { showRequest } from './api.js'
import { find, h, press } from './dom.js'

const perPage = 8

const resources = {
  candidates: {
    choice: 'Recruiter',
    filter: 'filter[recruiter_id]',
    choices: ({ recruiterIds }) => [['', 'Any'], ...recruiterIds.map((id) => [id, `No. ${id}`])],
    sorts: [['-updated_at', 'Last change'], ['-created_at', 'Newest'], ['full_name', 'Name'], ['id', 'Id']],
    columns: ['Candidate', 'Source', 'Id'],
    cells: ({ id, full_name: name, headline, source_id: source }) => [
      h('th', { scope: 'row' }, name, h('span', { class: 'under' }, headline ?? 'no headline')),
      h('td', { class: 'number' }, source === null ? '–' : String(source)),
      h('td', { class: 'number' }, String(id))
    ]
  },
  jobs: {
    choice: 'Status',
    filter: 'filter[status]',
    choices: ({ jobStatuses }) => [['', 'Any'], ...jobStatuses.map((status) => [status, words(status)])],
    sorts: [['-updated_at', 'Last change'], ['name', 'Name'], ['status,name', 'Status'], ['id', 'Id']],
    columns: ['Job', 'Status', 'Id'],
    cells: ({ id, name, status }) => [
      h('th', { scope: 'row' }, name),
      h('td', {}, h('span', { class: `chip ${status}` }, words(status))),
      h('td', { class: 'number' }, String(id))
    ]
  }
}

/** The left side: one list of the API at a time. */
export function createLists () {
  const form = find('#filters')
  const { q, choice, sort } = form.elements
  const buttons = [...document.querySelectorAll('#resources button')]
  let api
  let customer
  let resource = 'candidates'
  let page = 1
  let asked = 0
  let shown = { query: '', ids: [] }

  async function load () {
    asked += 1
    const question = asked
    const query = formatQuery()
    const { request, data = [], meta, fault } = await api.get(`/${resource}?${query}`)
    // Answers overtake one another.
    if (question !== asked) return
    showRequest(find('#list-request'), request)
    find('#range').textContent = fault ?? describeRange(meta)
    find('#previous').disabled = fault !== null || page === 1
    find('#next').disabled = fault !== null || page >= meta.total_pages
    find('#rows').hidden = data.length === 0
    find('#rows-empty').hidden = data.length > 0 || fault !== null
    const isSame = query === shown.query
    find('#rows tbody').replaceChildren(...data.map((row) => {
      return h('tr', { class: isSame && !shown.ids.includes(row.id) ? 'fresh' : null }, ...resources[resource].cells(row))
    }))
    shown = { query, ids: data.map(({ id }) => id) }
  }

  function formatQuery () {
    const query = [['page', page], ['per_page', perPage], ['sort', sort.value], ['filter[q]', q.value.trim()], [resources[resource].filter, choice.value]]
    return query.filter(([, value]) => value !== '').map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  }

  function choose (name) {
    resource = name
    page = 1
    const { choice: label, choices, sorts, columns } = resources[name]
    press(buttons, buttons.find((button) => button.dataset.resource === name))
    find('#choice-label').textContent = label
    choice.replaceChildren(...choices(customer).map(formatOption))
    sort.replaceChildren(...sorts.map(formatOption))
    find('#rows caption').textContent = name
    find('#rows thead').replaceChildren(h('tr', {}, ...columns.map((column, index) => {
      return h('th', { scope: 'col', class: column === 'Id' || column === 'Source' ? 'number' : null, 'data-column': index }, column)
    })))
    return load()
  }

  for (const button of buttons) button.addEventListener('click', () => choose(button.dataset.resource))
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
    open (nextApi, nextCustomer) {
      api = nextApi
      customer = nextCustomer
      q.value = ''
      return choose(resource)
    },
    reload: load
  }
}

function describeRange ({ page, per_page: size, total }) {
  const first = (page - 1) * size + 1
  return total === 0 ? 'None' : `${first} to ${Math.min(first + size - 1, total)} of ${total}`
}

function formatOption ([value, label]) {
  return h('option', { value: String(value) }, label)
}

function words (status) {
  return status.replaceAll('_', ' ')
}
