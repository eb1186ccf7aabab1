import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.js'

/** Attributes that connect a control with its label, hint and error. */
interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface FieldProps {
  label: string
  hint?: ComponentChildren
  error?: string | null
  /** Renders the control: `{(control) => <input {...control} />}`. */
  children: (control: ControlProps) => ComponentChildren
}

export function Field ({ label, hint, error = null, children }: FieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === null ? '' : `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {hint !== undefined && <p class='hint' id={`${id}-hint`}>{hint}</p>}
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== null })}
      {error !== null && <p class='field-error' id={`${id}-error`}><Icon name='bad' /> <span>{error}</span></p>}
    </div>
  )
}

/** Moves the focus to the first field with an error, after a form was refused. */
export function focusFirstError (form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}
