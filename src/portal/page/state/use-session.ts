import { useEffect, useState } from 'preact/hooks'
import type { SessionKeeper } from '../session/keeper.js'

/** Returns the session and its state, and renders again when they change. */
export function useSession (keeper: SessionKeeper) {
  const read = () => ({ session: keeper.session(), state: keeper.state() })
  const [current, setCurrent] = useState(read)
  useEffect(() => {
    setCurrent(read())
    return keeper.watch(() => setCurrent(read()))
  }, [keeper])
  return current
}
