import { useEffect, useRef } from 'preact/hooks'
import { useFormat } from '../../state/portal.js'
import { type EventGroup, choose } from './event-groups.js'
import { EventChoice } from './event-choice.js'

interface EventGroupChoiceProps {
  group: EventGroup
  chosen: readonly string[]
  errorId: string | undefined
  onChange: (chosen: readonly string[]) => void
}

/** A group of event types, with a box for all of them that the search shows. */
export function EventGroupChoice ({ group: { name, options }, chosen, errorId, onChange }: EventGroupChoiceProps) {
  const { messages: { form: { events: texts } }, text, number } = useFormat()
  const names = options.map((option) => option.name)
  const count = names.filter((option) => chosen.includes(option)).length
  const box = useRef<HTMLInputElement>(null)
  const isAll = count === names.length
  useEffect(() => { if (box.current !== null) box.current.indeterminate = count > 0 && !isAll }, [count, isAll])
  return (
    <div class='group' role='group' aria-label={name}>
      <label class='group-head'>
        <input
          ref={box} type='checkbox' checked={isAll} aria-label={text(texts.all, { group: name })} aria-invalid={errorId !== undefined} aria-describedby={errorId}
          onChange={() => onChange(choose(chosen, names, !isAll))}
        />
        <span class='group-name'>{name}</span>
        <span class='muted'>{number(count)} / {number(names.length)}</span>
      </label>
      <ul>
        {options.map((option) => (
          <EventChoice
            key={option.name} option={option} isChosen={chosen.includes(option.name)} errorId={errorId}
            onChange={(isChosen) => onChange(choose(chosen, [option.name], isChosen))}
          />
        ))}
      </ul>
    </div>
  )
}
