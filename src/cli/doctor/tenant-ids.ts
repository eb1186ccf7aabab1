import { createTenants } from '../../postgres/webhooks/webhook-row.js'
import { type Check, fault, ok } from './finding.js'

const maxListed = 1000
const maxShown = 20
/** Ids of tenants whose slugs are not known. */
const integerOrUuid = /^(-?\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/** Whether webhooks and keys are stored by slug, although the servers have the option `tenantId`. */
export const tenantIds: Check = {
  name: 'tenant ids',
  needsTables: true,
  async run ({ session, quotedSchema, flags }) {
    if (!flags.has('tenant-ids')) return []
    const listed = await createTenants(session, quotedSchema).listIdsLikeSlugs(maxListed)
    const slugs = listed.filter((id) => !integerOrUuid.test(id))
    if (slugs.length === 0) return [ok('no webhooks and keys are stored by slug')]
    const more = slugs.length > maxShown ? ` and ${slugs.length - maxShown} more` : ''
    const names = slugs.slice(0, maxShown).join(', ')
    return [fault(
      `the webhooks and keys of ${names}${more} are stored by slug: ` +
        'these keys get 401, and no events reach these webhooks',
      'run fastify-recruiting-api tenants use-ids')]
  }
}
