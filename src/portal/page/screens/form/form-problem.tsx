import type { Failure } from '../../api/failure.js'
import { Notice } from '../../parts/notice.js'
import { Problem } from '../../parts/problem.js'
import { useFormat } from '../../state/portal.js'

/** Why a webhook was not saved, unless its fields say it. Some vendors send no reasons. */
export function FormProblem ({ failure, isExplained }: { failure: Failure, isExplained: boolean }) {
  const { messages: { form: { refused } } } = useFormat()
  if (isExplained) return null
  if (failure.code !== 'bad_request' || failure.details.length > 0) return <Problem failure={failure} />
  return <Notice tone='bad' title={refused.title} isUrgent><p>{refused.text}</p></Notice>
}
