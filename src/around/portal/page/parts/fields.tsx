import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { usePortal } from '../hooks.js'
import { showControls } from '../text.js'
import { Button, Icon } from './controls.js'

/** Attributes that connect a control with its label, hint and error. */
interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface LabelProps {
  label: string
  hint?: string | undefined
  error?: string | null
}

interface FieldProps extends LabelProps {
  /** Renders the control: `{(control) => <input {...control} />}`. */
  children: (control: ControlProps) => ComponentChildren
}

function Field ({ label, hint, error = null, children }: FieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === null ? '' : `${id}-error`]
    .filter(Boolean)
    .join(' ')
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {hint !== undefined && <p class='hint' id={`${id}-hint`}>{hint}</p>}
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== null })}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}

/** The error of a field or of a group of fields, if there is one. */
export function FieldError ({ id, error }: { id: string, error: string | null }) {
  if (error === null) return null
  return <p class='field-error' id={id}><Icon name='bad' /> <span>{error}</span></p>
}

/** Attributes of an `<input>`. */
interface InputProps {
  type?: 'text' | 'email' | 'url' | 'number' | 'datetime-local'
  dir?: 'auto' | 'ltr'
  class?: string
  name?: string
  list?: string
  placeholder?: string
  autoComplete?: 'off'
  spellcheck?: false
  maxLength?: number
  min?: number
  max?: number
  required?: boolean
  readOnly?: boolean
}

interface TextFieldProps extends LabelProps, InputProps {
  value: string
  onValue: (value: string) => void
}

/** A field for text, or for another type of `<input>`. */
export function TextField ({ label, hint, error = null, value, onValue, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          type='text' autoComplete='off' {...input} {...control} value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface SelectFieldProps<Value extends string> {
  label: string
  value: Value
  options: ReadonlyArray<readonly [value: Value, label: string]>
  onValue: (value: Value) => void
}

/** A field to choose one of several values. */
export function SelectField<Value extends string> ({ label, value, options, onValue }: SelectFieldProps<Value>) {
  return (
    <Field label={label}>
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value as Value)}>
          {options.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
        </select>
      )}
    </Field>
  )
}

interface ChoicesProps<Value> {
  legend: string
  choices: ReadonlyArray<{ value: Value, label: string, hint?: string | undefined }>
  chosen: Value
  onChoose: (value: Value) => void
  /** Whether they are side by side. */
  isGrid?: boolean
}

/** Radio buttons. */
export function Choices<Value extends string | number> (
  { legend, choices, chosen, onChoose, isGrid = false }: ChoicesProps<Value>
) {
  const id = useId()
  return (
    <fieldset class={isGrid ? 'options options-grid' : 'options'}>
      <legend>{legend}</legend>
      {choices.map(({ value, label, hint }) => (
        <label key={value}>
          <input type='radio' name={id} checked={value === chosen} onChange={() => onChoose(value)} />
          <span>{label}{hint !== undefined && <span class='muted'>{hint}</span>}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface CheckProps {
  label: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

/** A checkbox with its label. */
export function Check ({ label, isChecked, onChange }: CheckProps) {
  return (
    <label>
      <input type='checkbox' checked={isChecked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

interface ChecksProps {
  legend: string
  hint?: string
  names: readonly string[]
  chosen: readonly string[]
  error?: string | null
  onChange: (chosen: string[]) => void
}

/** Check boxes for names, such as scopes. */
export function Checks ({ legend, hint, names, chosen, error = null, onChange }: ChecksProps) {
  const id = useId()
  return (
    <fieldset class='options' aria-describedby={error === null ? undefined : id}>
      <legend>{legend}</legend>
      {hint !== undefined && <p class='hint'>{hint}</p>}
      <div class='checks'>
        {names.map((name) => (
          <label key={name}>
            <input
              type='checkbox' checked={chosen.includes(name)} aria-invalid={error !== null}
              onChange={({ currentTarget: { checked } }) =>
                onChange(names.filter((one) => one === name ? checked : chosen.includes(one)))}
            />
            <code dir='ltr'>{showControls(name)}</code>
          </label>
        ))}
      </div>
      <FieldError id={id} error={error} />
    </fieldset>
  )
}

interface PairFieldsProps<Pair> {
  texts: { label: string, hint: string, add: string, removeOf: string }
  /** `null` while they cannot be edited. */
  pairs: readonly Pair[] | null
  /** The pair that the button adds. */
  blank: Pair
  most: number
  error: string | null
  /** The two inputs of a row. The label has the placeholder `{nth}`. */
  inputs: ReadonlyArray<InputProps & { field: keyof Pair, label: string }>
  /** Describes how the second input is read. */
  describe?: (pair: Pair) => string
  onChange: (pairs: readonly Pair[]) => void
  /** Above the rows. */
  children: ComponentChildren
  /** Below the rows. */
  footer?: ComponentChildren
}

/** Rows of two inputs, such as a header's name and value. The user can add and remove rows. */
export function PairFields<Pair extends { [Field in keyof Pair]: string }> (
  { texts, pairs, blank, most, error, inputs, describe, onChange, children, footer }: PairFieldsProps<Pair>
) {
  const { messages, text } = usePortal()
  const id = useId()
  const described = error === null ? `${id}-hint` : `${id}-hint ${id}-error`
  const edit = (index: number, change: Partial<Pair>) =>
    onChange((pairs ?? []).map((pair, at) => (at === index ? { ...pair, ...change } : pair)))
  return (
    <fieldset class='field headers'>
      <legend>{texts.label}</legend>
      <p class='hint' id={`${id}-hint`}>{texts.hint}</p>
      {children}
      {pairs?.map((pair, index) => (
        <div class={describe === undefined ? 'header-row' : 'header-row filter-row'} key={index}>
          {inputs.map(({ field, label, ...input }, place) => (
            <input
              key={field} type='text' spellcheck={false} {...input} aria-invalid={error !== null}
              aria-describedby={place === 0 || describe === undefined ? described : `${described} ${id}-about-${index}`}
              aria-label={text(label, { nth: index + 1 })} value={pair[field]}
              onInput={({ currentTarget }) => edit(index, { [field]: currentTarget.value } as Partial<Pair>)}
            />
          ))}
          <Button
            kind='quiet' label={text(texts.removeOf, { nth: index + 1 })}
            onClick={() => onChange(pairs.filter((_pair, at) => at !== index))}
          >
            {messages.shell.remove}
          </Button>
          {describe !== undefined && <p class='hint' id={`${id}-about-${index}`}>{describe(pair)}</p>}
        </div>
      ))}
      {pairs !== null && pairs.length < most && (
        <Button icon='plus' onClick={() => onChange([...pairs, blank])}>{texts.add}</Button>
      )}
      <FieldError id={`${id}-error`} error={error} />
      {footer}
    </fieldset>
  )
}

/** Returns a function that moves the focus to the first field with an error, once the form shows its errors. */
export function useErrorFocus (form: RefObject<HTMLElement | null>): () => void {
  const [turn, setTurn] = useState(0)
  useLayoutEffect(() => {
    if (turn > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [turn])
  return () => setTurn((previous) => previous + 1)
}

/** A form that shows its errors after the user submits it, and then moves the focus to the first. */
export function useForm (hasFaults: boolean, save: () => Promise<boolean>) {
  const ref = useRef<HTMLFormElement>(null)
  const [isChecked, setChecked] = useState(false)
  const focusFirstError = useErrorFocus(ref)
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    setChecked(true)
    if (hasFaults || !await save()) focusFirstError()
  }
  return { isChecked, form: { ref, class: 'form', noValidate: true, onSubmit } }
}
