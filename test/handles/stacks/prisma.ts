import type * as adapter from '@prisma/adapter-pg'
import type { Prisma, PrismaClient } from '../generated/client.js'
import { fromPrisma } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

export const openPrisma: OpenStack = async (load, connectionString) => {
  const { PrismaPg } = await load('@prisma/adapter-pg') as typeof adapter
  const generated = await load('./generated/client.ts') as { PrismaClient: typeof PrismaClient }
  const db = new generated.PrismaClient({ adapter: new PrismaPg({ connectionString }) })
  const open = (tx: Prisma.TransactionClient): OpenTransaction => ({
    handle: tx,
    transaction: fromPrisma(tx),
    run: (text) => tx.$executeRawUnsafe(text),
    // Prisma 6 has no nested transactions.
    ...(typeof tx.$transaction === 'function' ? { nest: (work) => tx.$transaction((inner) => work(open(inner))) } : {})
  })
  return { root: db, begin: (work) => db.$transaction((tx) => work(open(tx))), end: () => db.$disconnect() }
}
