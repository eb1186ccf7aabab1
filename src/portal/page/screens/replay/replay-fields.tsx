import { Field } from '../../parts/field.js'
import { Name } from '../../parts/name.js'
import { useFormat } from '../../state/portal.js'
import { Choices } from './choices.js'
import { type Choice, type SinceError, ranges, toLocalInput } from './selection.js'

interface ReplayFieldsProps {
  choice: Choice
  error: SinceError | null
  eventTypes: readonly string[]
  onChoice: (choice: Choice) => void
}

const dayMs = 86_400_000

export function ReplayFields ({ choice, error, eventTypes, onChoice }: ReplayFieldsProps) {
  const { messages: { replay: texts } } = useFormat()
  const chooseRange = (range: Choice['range']) => onChoice({ ...choice, range, since: choice.since || toLocalInput(Date.now() - dayMs) })
  const toggle = (type: string) => {
    const others = choice.eventTypes.filter((chosen) => chosen !== type)
    onChoice({ ...choice, eventTypes: others.length < choice.eventTypes.length ? others : [...others, type] })
  }
  return (
    <>
      <Choices
        legend={texts.range} chosen={choice.range} onChoose={chooseRange}
        choices={ranges.map((range) => ({ value: range, label: texts.ranges[range] }))}
      />
      {choice.range === 'own' && (
        <div class='replay-period'>
          <Field label={texts.since} error={error === null ? null : texts.invalid[error]}>
            {(control) => <input {...control} type='datetime-local' value={choice.since} onInput={({ currentTarget }) => onChoice({ ...choice, since: currentTarget.value })} />}
          </Field>
          <Field label={texts.until} hint={texts.untilNow}>
            {(control) => <input {...control} type='datetime-local' value={choice.until} onInput={({ currentTarget }) => onChoice({ ...choice, until: currentTarget.value })} />}
          </Field>
        </div>
      )}
      <Choices
        legend={texts.include} chosen={choice.include} onChoose={(include) => onChoice({ ...choice, include })}
        choices={[{ value: 'undelivered', label: texts.undelivered, hint: texts.undeliveredHint }, { value: 'all', label: texts.all, hint: texts.allHint }]}
      />
      {eventTypes.length > 1 && (
        <fieldset class='options'>
          <legend>{texts.types}</legend>
          <p class='hint'>{texts.typesHint}</p>
          <div class='replay-types'>
            {eventTypes.map((type) => (
              <label key={type}>
                <input type='checkbox' checked={choice.eventTypes.includes(type)} onChange={() => toggle(type)} />
                <span><Name>{type}</Name></span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
    </>
  )
}
