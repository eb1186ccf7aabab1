import { RecruitingApiError } from '../errors.js'
import type { ChangeSource, IdKinds } from '../ports/index.js'
import { assertOption, choice, flag, readInput, unread } from '../shared/read-options.js'
import { isId, isStorableId, textIdRule } from '../shared/ids.js'
import { type Tenants, readTenant } from '../shared/tenants.js'
import { assertNames, optionNames } from './events/dispatcher.js'
import type { EngineCalls } from './recruiting.js'

const readers = {
  tenantSlug: unread,
  tenantId: unread,
  kind: choice(['candidate', 'job']),
  id: unread,
  deleted: flag(false)
}

/** Returns the function that records changes of candidates and jobs. */
export function createChanged (
  changes: ChangeSource | undefined,
  ids: IdKinds,
  tenants: Tenants
): EngineCalls['changed'] {
  return async (changed, options = {}) => {
    assertOption(changes !== undefined, 'storage.changes', 'a storage that keeps changes', changes)
    assertNames('options', options, optionNames)
    const { kind, id, deleted } = readInput(changed, readers)
    const reference = readTenant(changed)
    if (!isId(id, ids[kind]) || !isStorableId(id)) {
      const rule = ids[kind] === 'integer' ? 'an integer from 1 to 2^53-1' : `a string of ${textIdRule}`
      throw new RecruitingApiError('invalid_input', `id: expected ${rule}, because ids.${kind} is '${ids[kind]}'`, 'id')
    }
    const tenant = await tenants.getId(reference, options.transaction)
    await changes.record(tenant, { kind, id: String(id), deleted }, options.transaction)
  }
}
