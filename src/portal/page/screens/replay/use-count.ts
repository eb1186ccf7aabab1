import { useEffect, useState } from 'preact/hooks'
import type { Failure } from '../../api/failure.js'
import type { Replay } from '../../api/types.js'
import { usePortal } from '../../state/portal.js'
import { useQuery } from '../../state/use-query.js'
import { type Choice, toReplay } from './selection.js'

/** Events that a replay would send. */
export interface Counted {
  /** The replay of exactly these: without those that are recorded after they were counted. */
  body: Replay
  queued: number
  isTruncated: boolean
}

export interface Count {
  /** `null` while they are counted. */
  counted: Counted | null
  failure: Failure | null
  reload (): void
}

/** Long enough for somebody who still chooses. */
const settleMs = 300

/** Counts the events of a choice, and again when it changes to another one that is valid. */
export function useCount (webhookId: number, choice: Choice, isValid: boolean): Count {
  const { api } = usePortal()
  const settled = useSettled(choice, isValid)
  const { value, failure, reload, isLoading } = useQuery(async () => {
    const body = toReplay(settled, Date.now())
    const { value, failure } = await api.replay(webhookId, { ...body, dry_run: true })
    if (value === null) return { value, failure }
    const { data: { until, queued, truncated } } = value
    return { value: { choice: settled, body: { ...body, ...(until === null ? {} : { until }) }, queued, isTruncated: truncated }, failure }
  }, [settled])
  return { counted: isLoading || value?.choice !== choice ? null : value, failure, reload }
}

function useSettled (choice: Choice, isValid: boolean): Choice {
  const [settled, setSettled] = useState(choice)
  useEffect(() => {
    if (!isValid) return
    const timer = setTimeout(() => setSettled(choice), settleMs)
    return () => clearTimeout(timer)
  }, [choice])
  return settled
}
