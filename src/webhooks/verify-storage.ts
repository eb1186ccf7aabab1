import type { EventStorage, PublishedFields } from '../ports/index.js'
import type { Logger } from '../observe/logger.js'

/** Lets the storage say whether it can be used, and passes on to the log what it wants mended. */
export async function verifyStorage (storage: EventStorage, published: PublishedFields | null, log: Logger): Promise<void> {
  for (const warning of await storage.verify?.(published) ?? []) log.warn({}, warning)
}
