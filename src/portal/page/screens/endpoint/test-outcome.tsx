import type { TestResult } from '../../api/types.js'
import { Notice } from '../../parts/notice.js'
import { useFormat } from '../../state/portal.js'
import { knownError, statusHint } from './remedy.js'

/** The result of a test in words, and what to try after a failure. */
export function TestOutcome ({ result: { response_status: status, duration_ms: ms, error } }: { result: TestResult }) {
  const { messages: { test: texts }, text, duration } = useFormat()
  const spent = duration(ms)
  if (error === null) return <Notice tone='good' title={text(texts.delivered, { status: String(status), duration: spent })} />
  const remedy = texts.errors[knownError(error, texts.errors)]
  const hint = status === null ? null : statusHint(status)
  return (
    <Notice tone='bad' title={remedy.title}>
      <p>{status === null ? text(texts.unanswered, { duration: spent }) : text(texts.answered, { status: String(status), duration: spent })}</p>
      <p>{hint === null ? remedy.text : texts.statuses[hint]}</p>
    </Notice>
  )
}
