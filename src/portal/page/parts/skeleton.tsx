import { useFormat } from '../state/portal.js'

/** Stands where something is loading. */
export function Skeleton ({ lines = 3 }: { lines?: number }) {
  const { messages } = useFormat()
  return (
    <div class='skeleton' role='status'>
      <span class='unseen'>{messages.shell.loading}</span>
      {Array.from({ length: lines }, (_, index) => <span key={index} class='skeleton-line' />)}
    </div>
  )
}
