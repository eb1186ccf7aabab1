import { RecruitingApiError } from '../errors.js'
import type { ChangeSource, IdKinds } from '../ports/index.js'
import { expect } from '../shared/expect.js'
import { isId, isStorableId, textIdRule } from '../shared/ids.js'
import { choice, flag, readInput, slug } from '../shared/read-options.js'
import type { Tenants } from '../shared/tenants.js'
import { assertNames, optionNames } from './events/arguments.js'
import type { EngineCalls } from './recruiting.js'

const readers = {
  tenantSlug: slug,
  kind: choice(['candidate', 'job']),
  id: (value: unknown) => value,
  deleted: flag(false)
}

/** Returns the function that records changes of candidates and jobs. */
export function createChanged (changes: ChangeSource | undefined, ids: IdKinds, tenants: Tenants): EngineCalls['changed'] {
  return async (changed, options = {}) => {
    expect(changes !== undefined, 'storage.changes', 'a storage that keeps changes', changes)
    assertNames('options', options, optionNames)
    const { tenantSlug, kind, id, deleted } = readInput(changed, readers)
    if (!isId(id, ids[kind]) || !isStorableId(id)) {
      const rule = ids[kind] === 'integer' ? 'an integer from 1 to 2^53-1' : `a string of ${textIdRule}`
      throw new RecruitingApiError('invalid_input', `id: expected ${rule}, because ids.${kind} is '${ids[kind]}'`, 'id')
    }
    const tenant = await tenants.get(tenantSlug, options.transaction)
    await changes.record(tenant.id, { kind, id: String(id), deleted }, options.transaction)
  }
}
