import { type Announcement, Announcer } from '../parts/announcer.js'
import { Empty } from '../parts/empty.js'
import { Icon } from '../parts/icon.js'
import { Notice } from '../parts/notice.js'
import { Skeleton } from '../parts/skeleton.js'
import type { SessionState } from '../session/keeper.js'
import { usePortal } from '../state/portal.js'
import { useOnline } from '../state/use-online.js'
import { CurrentScreen } from './current-screen.js'

interface ShellProps {
  state: SessionState
  hasSession: boolean
  isOwnPage: boolean
  announcement: Announcement
}

/** The frame of every screen. */
export function Shell ({ state, hasSession, isOwnPage, announcement }: ShellProps) {
  const { returnUrl, format: { messages: { shell } } } = usePortal()
  const isOnline = useOnline()
  // A host's page has a main part of its own.
  const Main = isOwnPage ? 'main' : 'div'
  return (
    // In a frame, its name tells it from the main part around the frame.
    <Main class='app' aria-label={isOwnPage ? shell.title : undefined}>
      {returnUrl !== null && isOwnPage && parent === window && (
        <nav class='back'><a class='link' href={returnUrl}><Icon name='back' /> {shell.returnTo}</a></nav>
      )}
      {!isOnline && <Notice tone='waiting' title={shell.offline.title}><p>{shell.offline.text}</p></Notice>}
      {state === 'ended' && (
        <Notice tone='waiting' title={shell.session.ended} isUrgent>
          <p>{shell.session.endedText}</p>
          {returnUrl !== null && <p><a class='link' href={returnUrl} target='_blank' rel='noreferrer'>{shell.returnTo}</a></p>}
        </Notice>
      )}
      {hasSession ? <CurrentScreen /> : state === 'renewing' ? <Skeleton lines={4} /> : <Empty title={shell.session.none}>{shell.session.noneText}</Empty>}
      <Announcer {...announcement} />
    </Main>
  )
}
