import type { PgQueryable } from '../pool.js'
import { sendAsText } from './as-text.js'
import { expectHandle, hasMethods } from './checks.js'

/** `Prisma.TransactionClient`, as an interactive `prisma.$transaction` gives it. */
export interface PrismaTransaction {
  $queryRawUnsafe (text: string, ...values: unknown[]): PromiseLike<unknown>
}

/** Whether a value is a Prisma client or one of its transactions. */
export function isPrisma (value: unknown): boolean {
  return hasMethods(value, '$queryRawUnsafe', '$executeRawUnsafe')
}

/**
 * Makes the client of an interactive Prisma transaction what `transaction` takes. Prisma ends such a transaction after
 * its `timeout`, 5 seconds by default, and nothing is recorded then. Throws `invalid_event`.
 */
export function fromPrisma (tx: PrismaTransaction): PgQueryable {
  expectHandle(isPrisma(tx) && !hasMethods(tx, '$connect'), 'fromPrisma', 'the client that prisma.$transaction gives to its callback')
  return {
    async query (text, values = []) {
      const statement = sendAsText(text, values)
      return { rows: await tx.$queryRawUnsafe(statement.text, ...statement.values) as unknown[] }
    }
  }
}
