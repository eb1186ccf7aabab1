import type { AnyStorageHarness } from './harness.js'

type Method = (...args: unknown[]) => unknown

/** Returns a harness that takes the names of the cases as tenants, over a storage that takes the ids of `tenantId`. */
export function namedTenants (harness: AnyStorageHarness): AnyStorageHarness {
  const { storage, tenantId: findId } = harness
  if (findId === undefined) return harness
  const names = new Map<string, string>()

  const toId = (name: string): string => {
    const id = findId(name)
    names.set(id, name)
    return id
  }

  /** The first argument of a call for a tenant is its id; `renameTenant` takes two tenants. */
  function toStored (argument: unknown): unknown {
    if (typeof argument === 'string' && !['candidate', 'job'].includes(argument)) return toId(argument)
    if (!isObject(argument) || !('slug' in argument) || typeof argument.id !== 'string') return argument
    return { ...argument, id: toId(argument.id) }
  }

  /** Results name tenants as `tenantId`. */
  function toNamed (result: unknown): unknown {
    if (Array.isArray(result)) return result.map(toNamed)
    if (!isObject(result)) return result
    const { tenantId: id, notice, ...others } = result
    return {
      ...others,
      ...('notice' in result ? { notice: toNamed(notice) } : {}),
      ...('tenantId' in result ? { tenantId: names.get(String(id)) } : {})
    }
  }

  function wrap<Port extends object> (port: Port): Port {
    return new Proxy(port, {
      get (target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (first: unknown, second: unknown, ...others: unknown[]) => {
          const result: unknown = (method as Method).call(
            target,
            toStored(first),
            name === 'renameTenant' ? toStored(second) : second,
            ...others
          )
          return result instanceof Promise ? result.then(toNamed) : result
        }
      }
    })
  }

  // The texts of `holds` are environments.
  const ports = Object.entries(storage).map(([name, port]: [string, unknown]) =>
    [name, name === 'holds' || !isObject(port) ? port : wrap(port)])
  return {
    ...harness,
    storage: { ...storage, ...Object.fromEntries(ports) },
    saveCandidates: (name, rows) => harness.saveCandidates(toId(name), rows),
    saveJobs: (name, rows) => harness.saveJobs(toId(name), rows)
  }
}

/** Bytes, such as a secret, do not change. */
function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
}
