// Your own operations: they list, sync, read and create applications, and hire applicants. What changes an application
// emits the event in the same transaction.

import { Type } from '@sinclair/typebox'
import type pg from 'pg'
import { type RecruitingRoutes, HttpError, defineList } from 'fastify-recruiting-api'

const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Stage = Type.Union([
  Type.Literal('applied'),
  Type.Literal('interview'),
  Type.Literal('offer'),
  Type.Literal('hired')
])
const Application = Type.Object({ id: Id, candidate_id: Id, job_id: Id, stage: Stage })
const NewApplication = Type.Object({ candidate_id: Id, job_id: Id }, { additionalProperties: false })

export type Stage = typeof Stage.static

/** A candidate's application for a job. */
export type Application = typeof Application.static

export type NewApplication = typeof NewApplication.static

/** Records the event of a change in its transaction: both commit or neither. */
export type RecordEvent = (application: Application, transaction: object) => Promise<void>

/** The applications of your customers. */
export interface Applications {
  /** Returns a page, ordered by id. */
  list (companyId: string, stage: Stage | undefined, offset: number, limit: number): Promise<Application[]>
  count (companyId: string, stage: Stage | undefined): Promise<number>
  /** For sync: returns up to `limit` applications with ids above `after`, ordered by id. */
  listAfter (companyId: string, after: number, limit: number): Promise<Application[]>
  /** Returns the company's applications with these ids. */
  findMany (companyId: string, ids: number[]): Promise<Application[]>
  /** Returns `null` if the company has no such candidate or job. */
  create (companyId: string, application: NewApplication, record: RecordEvent): Promise<Application | null>
  /** Returns `null` if the company has no application with this id, or if it is already at this stage. */
  move (companyId: string, id: number, stage: Stage, record: RecordEvent): Promise<Application | null>
}

export function applicationRoutes (applications: Applications): RecruitingRoutes {
  const list = defineList(Application, { kind: 'application', sort: ['id'], filters: { stage: Stage } })
  const tags = ['applications']
  const One = Type.Object({ data: Application })
  const params = Type.Object({ tenant_slug: Type.String(), id: Id })
  const reading = { scopes: ['applications:read'] }
  const writing = { scopes: ['applications:write'], resource: 'application', idempotent: true }

  return async (app) => {
    /** Returns a function that emits an event about an application, its candidate and its job. */
    function emitting (tenantId: string, type: 'application.created' | 'application.hired'): RecordEvent {
      return async (data, transaction) => {
        const subjects = [`candidate:${data.candidate_id}`, `job:${data.job_id}`]
        await app.recruiting.emit({ tenantId, type, data, subjects }, { transaction })
      }
    }

    app.get(
      '/applications',
      {
        config: reading,
        schema: {
          operationId: 'listApplications',
          tags,
          summary: 'List applications',
          querystring: list.query,
          response: { 200: list.page }
        }
      },
      (request, reply) =>
        list.read(request, reply, {
          list: (companyId, { filter: { stage }, offset, limit }) => applications.list(companyId, stage, offset, limit),
          count: (companyId, { stage }) => applications.count(companyId, stage)
        })
    )

    app.get(
      '/applications/sync',
      {
        config: reading,
        schema: {
          operationId: 'syncApplications',
          tags,
          summary: 'Copy all applications, then follow their changes',
          querystring: list.sync.query,
          response: { 200: list.sync.page }
        }
      },
      (request) =>
        list.sync.read(request, {
          listAfter: (companyId, { after, limit }) => applications.listAfter(companyId, after ?? 0, limit),
          findMany: (companyId, ids) => applications.findMany(companyId, ids)
        })
    )

    app.get('/applications/:id', {
      config: { ...reading, resource: 'application' },
      schema: { operationId: 'getApplication', tags, summary: 'Get an application', params, response: { 200: One } }
    }, async ({ params: { id }, recruiting: { tenantId } }) => {
      const [data] = await applications.findMany(tenantId, [id])
      if (data === undefined) throw new HttpError('not_found')
      return { data }
    })

    // With the header Idempotency-Key, a repeated request creates no second application.
    app.post('/applications', {
      config: writing,
      schema: {
        operationId: 'createApplication',
        tags,
        summary: 'Create an application',
        body: NewApplication,
        response: { 201: One }
      }
    }, async ({ body, recruiting: { tenantId } }, reply) => {
      const data = await applications.create(tenantId, body, emitting(tenantId, 'application.created'))
      if (data === null) {
        throw new HttpError('bad_request', [{ in: 'body', field: '', message: 'the candidate or the job is not known' }])
      }
      reply.code(201)
      return { data }
    })

    app.post('/applications/:id/hire', {
      config: writing,
      schema: { operationId: 'hire', tags, summary: 'Hire an applicant', params, response: { 200: One } }
    }, async ({ params: { id }, recruiting: { tenantId } }) => {
      const data = await applications.move(tenantId, id, 'hired', emitting(tenantId, 'application.hired'))
      if (data === null) throw new HttpError('not_found')
      return { data }
    })
  }
}

const columns = 'id::int, candidate_id::int, job_id::int, stage'
const matches = 'company_id = $1 and ($2::text is null or stage = $2)'

/** Applications in PostgreSQL. */
export function postgresApplications (pool: pg.Pool): Applications {
  /** Runs a statement that changes at most one application, and records its event in the same transaction. */
  async function change (record: RecordEvent, text: string, values: unknown[]): Promise<Application | null> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rows: [row] } = await client.query(`${text} returning ${columns}`, values)
      if (row !== undefined) await record(row, client)
      await client.query('commit')
      return row ?? null
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }

  async function read (rest: string, values: unknown[]): Promise<Application[]> {
    return (await pool.query(`select ${columns} from applications where ${rest}`, values)).rows
  }

  return {
    list: (companyId, stage, offset, limit) =>
      read(`${matches} order by applications.id offset $3 limit $4`, [companyId, stage, offset, limit]),
    async count (companyId, stage) {
      const {
        rows: [row]
      } = await pool.query(`select count(*)::int as total from applications where ${matches}`, [companyId, stage])
      return row.total
    },
    listAfter: (companyId, after, limit) =>
      read('company_id = $1 and id > $2 order by applications.id limit $3', [companyId, after, limit]),
    findMany: (companyId, ids) => read('company_id = $1 and id = any ($2)', [companyId, ids]),
    create: (companyId, { candidate_id: candidate, job_id: job }, record) =>
      change(record, `insert into applications (company_id, candidate_id, job_id)
        select c.company_id, c.id, j.id from candidates c join jobs j using (company_id)
        where company_id = $1 and c.id = $2 and j.id = $3`, [companyId, candidate, job]),
    move: (companyId, id, stage, record) =>
      change(record, 'update applications set stage = $3 where company_id = $1 and id = $2 and stage <> $3',
        [companyId, id, stage])
  }
}
