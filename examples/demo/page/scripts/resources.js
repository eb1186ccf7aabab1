import { h } from './dom.js'

/** Defines the two lists' filters, sorts and columns. */
export function createResources ({ jobStatuses, sources }) {
  const sourceNames = new Map(sources.map(({ id, name }) => [id, name]))
  return {
    candidates: {
      label: 'Candidates',
      choice: 'Recruiter',
      filter: 'filter[recruiter_id]',
      choices: ({ recruiters }) => [['', 'Any'], ...recruiters.map(({ id, name }) => [id, name])],
      sorts: [['-updated_at', 'Last change'], ['-created_at', 'Newest'], ['full_name', 'Name'], ['id', 'Id']],
      columns: [['Candidate'], ['Source', 'source'], ['Id', 'number']],
      cells: ({ id, full_name: name, headline, source_id: source }) => [
        h('th', { scope: 'row' }, h('bdi', {}, name), h('span', { class: 'under' }, headline ?? 'no headline')),
        h('td', { class: 'source' }, source === null ? '–' : sourceNames.get(source)),
        h('td', { class: 'number' }, String(id))
      ]
    },
    jobs: {
      label: 'Jobs',
      choice: 'Status',
      filter: 'filter[status]',
      choices: () => [['', 'Any'], ...jobStatuses.map((status) => [status, formatStatus(status)])],
      sorts: [['-updated_at', 'Last change'], ['name', 'Name'], ['status,name', 'Status'], ['id', 'Id']],
      columns: [['Job'], ['Status'], ['Id', 'number']],
      cells: ({ id, name, status }) => [
        h('th', { scope: 'row' }, name),
        h('td', {}, h('span', { class: `chip ${status}` }, formatStatus(status))),
        h('td', { class: 'number' }, String(id))
      ]
    }
  }
}

function formatStatus (status) {
  return status.replaceAll('_', ' ')
}
