import { useEffect, useId, useState } from 'preact/hooks'
import type { EventFilters, FilterValue, Preview } from './api.js'
import { type DataFields, type FilterDraft, groupValues, maxFilters } from './filters.js'
import { usePortal } from './hooks.js'
import { Button, Icon } from './parts/controls.js'

interface FilterFieldsProps {
  filters: readonly FilterDraft[]
  /** The fields to choose from. */
  fields: DataFields
  valuesOf: (filter: FilterDraft) => readonly FilterValue[]
  /** The filter to count events for; `null` while it is incomplete. */
  preview: { event_types: string[], filters: EventFilters } | null
  error: string | null
  onChange: (filters: readonly FilterDraft[]) => void
}

/** The filters of the webhook, with the number of recent events that match. */
export function FilterFields ({ filters, fields, valuesOf, preview, error, onChange }: FilterFieldsProps) {
  const { can, format: { messages: { form: { filters: texts } }, text, plural } } = usePortal()
  const id = useId()
  const found = useMatches(preview && JSON.stringify(preview))
  const edit = (index: number, change: Partial<FilterDraft>) =>
    onChange(filters.map((filter, at) => (at === index ? { ...filter, ...change } : filter)))
  const described = error === null ? `${id}-hint` : `${id}-hint ${id}-error`
  const control = { type: 'text', 'aria-invalid': error !== null, spellcheck: false } as const
  return (
    <fieldset class='field headers'>
      <legend>{texts.label}</legend>
      <p class='hint' id={`${id}-hint`}>
        {texts.hint}
      </p>
      <datalist id={`${id}-fields`}>
        {[...fields.keys()].map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {filters.map((filter, index) => (
        <div class='header-row filter-row' key={index}>
          <input
            {...control}
            aria-describedby={described}
            list={`${id}-fields`}
            dir='ltr'
            aria-label={text(texts.fieldOf, { nth: index + 1 })}
            placeholder='data.job_id'
            value={filter.path}
            onInput={({ currentTarget }) => edit(index, { path: currentTarget.value })}
          />
          <input
            {...control}
            aria-describedby={`${described} ${id}-read-${index}`}
            autoComplete='off'
            dir='auto'
            aria-label={text(texts.valuesOf, { nth: index + 1 })}
            placeholder={texts.values}
            value={filter.values}
            onInput={({ currentTarget }) => edit(index, { values: currentTarget.value })}
          />
          <Button
            kind='quiet'
            label={text(texts.removeOf, { nth: index + 1 })}
            onClick={() => onChange(filters.filter((_filter, at) => at !== index))}
          >
            {texts.remove}
          </Button>
          <p class='hint' id={`${id}-read-${index}`}>
            {groupValues(valuesOf(filter))
              .map(({ type, values }) => text(texts.types[type], { values }))
              .join(' · ')}
          </p>
        </div>
      ))}
      {filters.length < maxFilters && (
        <Button icon='plus' onClick={() => onChange([...filters, { path: '', values: '' }])}>
          {texts.add}
        </Button>
      )}
      {error !== null && (
        <p class='field-error' id={`${id}-error`}>
          <Icon name='bad' /> <span>{error}</span>
        </p>
      )}
      {can('bodies') && filters.length > 0 && (
        <p role='status'>
          {found !== null &&
            (found.events === 0 ? texts.noEvents : plural(texts.matches, found.events, { matching: found.matching }))}
        </p>
      )}
    </fieldset>
  )
}

/** Long enough for a user who is still typing. */
const settleMs = 600

/** Counts recent events that match, again after each change. `null` while that is not known: a failure says nothing. */
function useMatches (body: string | null): Preview | null {
  const { api } = usePortal()
  const [counted, setCounted] = useState<{ body: string, found: Preview | null } | null>(null)
  useEffect(() => {
    if (body === null) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      api.previewWebhook(JSON.parse(body), controller.signal).then(
        ({ value }) => setCounted({ body, found: value && value.data }),
        () => {}
      )
    }, settleMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [body])
  return counted !== null && counted.body === body ? counted.found : null
}
