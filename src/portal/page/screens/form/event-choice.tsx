import { useId, useState } from 'preact/hooks'
import { CodeBlock } from '../../parts/code-block.js'
import { useFormat } from '../../state/portal.js'
import type { EventOption } from './event-groups.js'

interface EventChoiceProps {
  option: EventOption
  isChosen: boolean
  errorId: string | undefined
  onChange: (isChosen: boolean) => void
}

/** One event type, with an example of its data on demand. */
export function EventChoice ({ option: { name, description, example, isOffered }, isChosen, errorId, onChange }: EventChoiceProps) {
  const { messages: { form: { events: texts } }, text } = useFormat()
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <li class='event'>
      <input
        type='checkbox' id={id} checked={isChosen} aria-invalid={errorId !== undefined} aria-describedby={[`${id}-about`, errorId].join(' ')}
        onChange={() => onChange(!isChosen)}
      />
      <label for={id}><code>{name}</code></label>
      {example !== null && (
        <button type='button' class='button button-quiet small' aria-expanded={isOpen} aria-label={text(texts.exampleOf, { name })} onClick={() => setOpen(!isOpen)}>
          {texts.example}
        </button>
      )}
      <p class='muted' id={`${id}-about`}>{isOffered ? description : texts.gone}</p>
      {isOpen && <CodeBlock code={JSON.stringify(example, null, 2)} label={text(texts.exampleOf, { name })} />}
    </li>
  )
}
