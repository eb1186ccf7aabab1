import { type KeyLookup, hashApiKey } from 'fastify-recruiting-api'
import { type Kysely, sql } from 'kysely'

/** The vendor's own users. Some have an API key, of which only the digest is stored. */
export interface UserSchema {
  users: {
    id: number
    tenant_slug: string
    email: string
    key_digest: string | null
    key_scopes: string
    key_expires_at: number | null
    is_blocked: number
  }
}

/** Finds the user of an API key. */
export function userKeyLookup (db: Kysely<UserSchema>, { now = Date.now } = {}): KeyLookup {
  return async ({ tenantSlug, key }) => {
    const user = await db.selectFrom('users').select(['id', 'key_scopes'])
      .where('key_digest', '=', hashApiKey(key))
      .where('tenant_slug', '=', tenantSlug)
      .where('is_blocked', '=', 0)
      .where((eb) => eb.or([eb('key_expires_at', 'is', null), eb('key_expires_at', '>', now())]))
      .executeTakeFirst()
    return user === undefined ? null : { id: `user_${user.id}`, scopes: JSON.parse(user.key_scopes) }
  }
}

/** Creates the table. */
export async function createUsers (db: Kysely<UserSchema>): Promise<void> {
  await sql`create table users (
    id integer primary key, tenant_slug text not null, email text not null, key_digest text unique, key_scopes text not null,
    key_expires_at integer, is_blocked integer not null
  )`.execute(db)
}
