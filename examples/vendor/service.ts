// Stands in for the vendor's REST service, with its own field names.
import { type Server, createServer } from 'node:http'

export interface Person {
  tenant: string
  /** A uuid; vacancies have numbers. */
  id: string
  first: string
  last: string
  title: string | null
  source: number | null
  owner: number | null
  createdAt: string
  changedAt: string
}

export interface Vacancy {
  tenant: string
  nr: number
  title: string
  state: string
  createdAt: string
  changedAt: string
}

/** Serves `GET /people?tenant=…` and `GET /vacancies?tenant=…`. */
export function createService (data: { people: Person[], vacancies: Vacancy[] }): Server {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service')
    const all: Array<{ tenant: string }> = pathname === '/people' ? data.people : data.vacancies
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(all.filter(({ tenant }) => tenant === searchParams.get('tenant'))))
  })
}
