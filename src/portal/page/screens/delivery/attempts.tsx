import { useId } from 'preact/hooks'
import type { Attempt, DeliveryWithAttempts } from '../../api/types.js'
import { adviceFor, answerWords } from '../../delivery-words.js'
import { CodeBlock } from '../../parts/code-block.js'
import { Icon } from '../../parts/icon.js'
import { Instant } from '../../parts/instant.js'
import { useFormat } from '../../state/portal.js'
import { prettyJson } from '../../text/pretty-json.js'
import { Countdown } from './countdown.js'

/** The attempts on a time line, newest first, below the one to come. */
export function Attempts ({ delivery: { attempts, next_attempt_at: nextAt } }: { delivery: DeliveryWithAttempts }) {
  const { messages: { delivery: texts } } = useFormat()
  const id = useId()
  return (
    <section class='section' aria-labelledby={id}>
      <h2 id={id}>{texts.attempts.title}</h2>
      {attempts.length === 0 && nextAt === null && <p class='muted'>{texts.attempts.none}</p>}
      <ol class='timeline' reversed>
        {nextAt !== null && (
          <li class='moment moment-waiting'>
            <Icon name='waiting' />
            <div><h3>{texts.next}</h3><p class='muted'><Countdown at={nextAt} /></p></div>
          </li>
        )}
        {attempts.map((attempt, index) => <Moment key={index} attempt={attempt} number={index + 1} next={attempts[index + 1]} />).reverse()}
      </ol>
    </section>
  )
}

/** The advice stands at the last of several attempts that failed alike. */
function Moment ({ attempt, number, next }: { attempt: Attempt, number: number, next: Attempt | undefined }) {
  const format = useFormat()
  const { messages: { delivery: texts, test }, text, duration } = format
  const which = text(texts.attempts.number, { number })
  const advice = adviceFor(attempt, test)
  const tone = attempt.error === null ? 'good' : 'bad'
  return (
    <li class={`moment moment-${tone}`}>
      <Icon name={tone} />
      <div>
        <h3>{answerWords(attempt, format)}</h3>
        <p class='muted'>{which} · <Instant at={attempt.started_at} /> · {text(texts.attempts.duration, { duration: duration(attempt.duration_ms) })}</p>
        {advice !== null && (next === undefined || adviceFor(next, test) !== advice) && <p>{advice}</p>}
        {attempt.response_excerpt !== null && attempt.response_excerpt !== '' && (
          <>
            <p class='muted'>{texts.attempts.excerpt}</p>
            <CodeBlock code={prettyJson(attempt.response_excerpt)} exact={attempt.response_excerpt} label={`${which}: ${texts.attempts.excerpt}`} />
          </>
        )}
      </div>
    </li>
  )
}
