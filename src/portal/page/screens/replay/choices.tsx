import { useId } from 'preact/hooks'

interface ChoicesProps<Value extends string> {
  legend: string
  choices: ReadonlyArray<{ value: Value, label: string, hint?: string }>
  chosen: Value
  onChoose: (value: Value) => void
}

/** One of several. */
export function Choices<Value extends string> ({ legend, choices, chosen, onChoose }: ChoicesProps<Value>) {
  const id = useId()
  return (
    <fieldset class='options options-grid'>
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
