// Your own operations: they list applications and hire applicants, and emit the event in the same transaction.

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

export type Stage = typeof Stage.static

/** A candidate's application for a job. */
export type Application = typeof Application.static

/** The applications of your customers. */
export interface Applications {
  /** Returns a page, ordered by id. */
  list(companyId: string, stage: Stage | undefined, offset: number, limit: number): Promise<Application[]>
  count(companyId: string, stage: Stage | undefined): Promise<number>
  /**
   * Moves an application to a stage, in a transaction with `record`: both commit or neither. Returns `null` if the
   * company has no application with this id, or if it is already at this stage.
   */
  move(
    companyId: string,
    id: number,
    stage: Stage,
    record: (application: Application, transaction: object) => Promise<void>
  ): Promise<Application | null>
}

export function applicationRoutes (applications: Applications): RecruitingRoutes {
  const list = defineList(Application, { sort: ['id'], filters: { stage: Stage } })
  const tags = ['applications']

  return async (app) => {
    app.get(
      '/applications',
      {
        config: { scopes: ['applications:read'] },
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

    app.post('/applications/:id/hire', {
      config: { scopes: ['applications:write'], resource: 'application', idempotent: true },
      schema: {
        operationId: 'hire',
        tags,
        summary: 'Hire an applicant',
        params: Type.Object({ tenant_slug: Type.String(), id: Id }),
        response: { 200: Type.Object({ data: Application }) }
      }
    }, async ({ params: { id }, recruiting: { tenantId } }) => {
      const hired = await applications.move(tenantId, id, 'hired', async (data, transaction) => {
        const subjects = [`candidate:${data.candidate_id}`, `job:${data.job_id}`]
        await app.recruiting.emit({ tenantId, type: 'application.hired', data, subjects }, { transaction })
      })
      if (hired === null) throw new HttpError('not_found')
      return { data: hired }
    })
  }
}

const columns = 'id::int, candidate_id::int, job_id::int, stage'
const matches = 'company_id = $1 and ($2::text is null or stage = $2)'

/** Applications in PostgreSQL. */
export function postgresApplications (pool: pg.Pool): Applications {
  return {
    async list (companyId, stage, offset, limit) {
      const { rows } = await pool.query(
        `select ${columns} from applications where ${matches} order by applications.id offset $3 limit $4`,
        [companyId, stage, offset, limit]
      )
      return rows
    },
    async count (companyId, stage) {
      const {
        rows: [row]
      } = await pool.query(`select count(*)::int as total from applications where ${matches}`, [companyId, stage])
      return row.total
    },
    async move (companyId, id, stage, record) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const { rows: [row] } = await client.query(
          `update applications set stage = $3 where company_id = $1 and id = $2 and stage <> $3 returning ${columns}`,
          [companyId, id, stage]
        )
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
  }
}
