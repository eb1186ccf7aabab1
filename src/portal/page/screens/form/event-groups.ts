import type { EventType } from '../../api/types.js'

/** An event type that can be chosen. */
export type EventOption = Pick<EventType, 'name' | 'description' | 'example'> & { isOffered: boolean }

/** Event types with the same first part of their name. */
export interface EventGroup {
  /** For example `application`. */
  name: string
  options: readonly EventOption[]
}

/** Returns the event types to choose from: the catalogue, and those chosen earlier that it does not offer any more. */
export function optionsOf (catalogue: readonly EventType[], chosen: readonly string[]): EventOption[] {
  const offered = catalogue.map(({ name, description, example }) => ({ name, description, example, isOffered: true }))
  const names = new Set(offered.map(({ name }) => name))
  const gone = chosen.filter((name) => !names.has(name)).map((name) => ({ name, description: null, example: null, isOffered: false }))
  return [...offered, ...gone]
}

/** Groups the options that contain every word of the search, in their name or description. */
export function groupOptions (options: readonly EventOption[], search: string): EventGroup[] {
  const words = search.toLowerCase().split(/\s+/)
  const groups = new Map<string, EventOption[]>()
  for (const option of options) {
    const text = `${option.name} ${option.description ?? ''}`.toLowerCase()
    if (!words.every((word) => text.includes(word))) continue
    const [name = ''] = option.name.split('.')
    groups.set(name, [...groups.get(name) ?? [], option])
  }
  return [...groups].map(([name, options]) => ({ name, options }))
}

/** Adds names to those chosen, or takes them away. */
export function choose (chosen: readonly string[], names: readonly string[], isChosen: boolean): string[] {
  return isChosen ? [...new Set([...chosen, ...names])] : chosen.filter((name) => !names.includes(name))
}
