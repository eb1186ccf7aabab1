import { useId, useMemo } from 'preact/hooks'
import { CodeBlock } from '../../parts/code-block.js'
import { Notice } from '../../parts/notice.js'
import { useFormat } from '../../state/portal.js'
import { prettyJson } from '../../text/pretty-json.js'
import { isErased } from './erased.js'

/** The body that was sent: indented to read, exact to copy. */
export function Body ({ body }: { body: string | null }) {
  const { messages: { delivery: { body: texts } } } = useFormat()
  const id = useId()
  const shown = useMemo(() => body === null ? '' : prettyJson(body), [body])
  return (
    <section class='section' aria-labelledby={id}>
      <h2 id={id}>{texts.title}</h2>
      {body === null
        ? <p class='muted'>{texts.hidden}</p>
        : (
          <>
            {isErased(body) && <Notice tone='off' title={texts.erasedTitle}><p>{texts.erasedText}</p></Notice>}
            <p class='muted'>{texts.note}</p>
            <CodeBlock code={shown} exact={body} label={texts.label} />
          </>
          )}
    </section>
  )
}
