import { useEffect, useState } from 'preact/hooks'
import type { Route } from '../route/route.js'
import { usePortal } from '../state/portal.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'

interface LeaveGuardProps {
  /** Whether something would be lost. */
  isActive: boolean
  texts: { title: string, text: string, stay: string, leave: string }
}

/** Asks before the user leaves a screen and loses something. */
export function LeaveGuard ({ isActive, texts }: LeaveGuardProps) {
  const { guard, leave } = usePortal()
  const [next, setNext] = useState<Route | null>(null)
  useEffect(() => {
    if (!isActive) return
    guard.current = setNext
    // Closing or reloading the page.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => {
      guard.current = null
      removeEventListener('beforeunload', warn)
    }
  }, [isActive])

  if (next === null) return null
  const stay = () => setNext(null)
  const actions = (
    <>
      <Button kind='danger' onClick={() => leave(next)}>{texts.leave}</Button>
      <Button kind='primary' onClick={stay}>{texts.stay}</Button>
    </>
  )
  return <Dialog title={texts.title} onClose={stay} actions={actions}><p>{texts.text}</p></Dialog>
}
