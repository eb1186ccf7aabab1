import type { EntityClass } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/postgresql'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import type { Knex } from 'knex'
import type { Generated, Kysely } from 'kysely'
import type postgres from 'postgres'
import type { Model, ModelStatic, Sequelize } from 'sequelize'
import type { DataSource, EntityTarget } from 'typeorm'
import type { PrismaClient } from './generated/client.js'
import type { Recruiting } from '../../src/index.js'
import {
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm
} from '../../src/storages/postgres/index.js'

/* The snippets of docs/transactions.md, compiled by `npm run types`. */

interface Row {
  id: number
  candidateId: number
}

declare const recruiting: Recruiting
declare const tenantSlug: string
declare const candidateId: number

export async function prisma (prisma: PrismaClient): Promise<void> {
  await prisma.$transaction(async (tx) => {
    const { id } = await tx.application.create({ data: { candidateId } })
    await recruiting.emit({ tenantSlug, type: 'application.created', data: { id } }, { transaction: fromPrisma(tx) })
  }, { timeout: 10_000 })
}

export async function drizzle (db: NodePgDatabase): Promise<void> {
  const applications = pgTable('applications', { id: integer().primaryKey().generatedAlwaysAsIdentity(), candidateId: integer() })
  await db.transaction(async (tx) => {
    const [application] = await tx.insert(applications).values({ candidateId }).returning()
    await recruiting.emit({ tenantSlug, type: 'application.created', data: { ...application } }, { transaction: fromDrizzle(tx) })
  })
}

interface Tables { applications: { id: Generated<number>, candidateId: number } }

export async function kysely (db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { id } = await trx.insertInto('applications').values({ candidateId }).returning('id').executeTakeFirstOrThrow()
    await recruiting.emit({ tenantSlug, type: 'application.created', data: { id } }, { transaction: fromKysely(trx) })
  })
}

export async function knex (knex: Knex): Promise<void> {
  await knex.transaction(async (trx) => {
    const [application] = await trx('applications').insert({ candidateId }).returning('*')
    await recruiting.emit({ tenantSlug, type: 'application.created', data: application }, { transaction: fromKnex(trx) })
  })
}

export async function typeOrm (dataSource: DataSource, Application: EntityTarget<Row>): Promise<void> {
  await dataSource.transaction(async (manager) => {
    const { id } = await manager.save(Application, { candidateId })
    await recruiting.emit({ tenantSlug, type: 'application.created', data: { id } }, { transaction: fromTypeOrm(manager) })
  })
}

export async function sequelize (sequelize: Sequelize, Application: ModelStatic<Model>): Promise<void> {
  await sequelize.transaction(async (transaction) => {
    const application = await Application.create({ candidateId }, { transaction })
    await recruiting.emit({ tenantSlug, type: 'application.created', data: application.toJSON() }, { transaction: fromSequelize(transaction) })
  })
}

export async function mikroOrm (em: SqlEntityManager, Application: EntityClass<Row>): Promise<void> {
  await em.transactional(async (em) => {
    const application = em.create(Application, { candidateId })
    await em.flush()
    await recruiting.emit({ tenantSlug, type: 'application.created', data: { id: application.id } }, { transaction: fromMikroOrm(em) })
  })
}

export async function postgresJs (sql: postgres.Sql): Promise<void> {
  await sql.begin(async (sql) => {
    const [application] = await sql`insert into applications (candidate_id) values (${candidateId}) returning id`
    await recruiting.emit({ tenantSlug, type: 'application.created', data: { ...application } }, { transaction: fromPostgresJs(sql) })
  })
}
