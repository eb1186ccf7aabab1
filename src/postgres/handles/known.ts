import { isDrizzle } from './drizzle.js'
import { isKnex } from './knex.js'
import { isKysely } from './kysely.js'
import { isMikroOrm } from './mikro-orm.js'
import { isPostgresJs } from './postgres-js.js'
import { isPrisma } from './prisma.js'
import { refuseTransaction } from './refuse.js'
import { isSequelize } from './sequelize.js'
import { isTypeOrm } from './type-orm.js'

const known: ReadonlyArray<[library: string, is: (value: unknown) => boolean, wrapped: string]> = [
  ['Prisma', isPrisma, 'fromPrisma(tx)'],
  ['Drizzle', isDrizzle, 'fromDrizzle(tx)'],
  ['Kysely', isKysely, 'fromKysely(trx)'],
  ['Knex', isKnex, 'fromKnex(trx)'],
  ['TypeORM', isTypeOrm, 'fromTypeOrm(manager)'],
  ['Sequelize', isSequelize, 'fromSequelize(transaction)'],
  ['MikroORM', isMikroOrm, 'fromMikroOrm(em)'],
  ['postgres.js', isPostgresJs, 'fromPostgresJs(sql)']
]

/** What else `transaction` may be, for messages. */
export const wrappedHandles = `one of ${known.map(([, , wrapped]) => wrapped).join(', ')}`

/**
 * Refuses a handle of a library that needs one of our functions around it; some have a `query` that takes other arguments
 * or runs outside of the transaction. Throws `invalid_event`.
 */
export function refuseBareHandle (transaction: unknown): void {
  const [library, , wrapped] = known.find(([, is]) => is(transaction)) ?? []
  if (library !== undefined) refuseTransaction(`expected ${wrapped}, got a handle of ${library} itself`)
}
