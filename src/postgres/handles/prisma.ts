import type { PgQueryable } from '../pool.js'
import { sendAsText } from './as-text.js'
import { expectHandle, hasMethods } from './checks.js'

/** `Prisma.TransactionClient`, from an interactive `prisma.$transaction`. */
export interface PrismaTransaction {
  $queryRawUnsafe (text: string, ...values: unknown[]): PromiseLike<unknown>
}

/** Returns whether a value is a Prisma client or transaction. */
export function isPrisma (value: unknown): boolean {
  return hasMethods(value, '$queryRawUnsafe', '$executeRawUnsafe')
}

/**
 * Converts the client of an interactive Prisma transaction for the option `transaction`. Throws `invalid_event`. Prisma
 * rolls such a transaction back after its `timeout`, 5 seconds by default.
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
