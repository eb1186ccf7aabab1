import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { type PagedQuery, usePortal } from './hooks.js'
import { Button, Icon, Link, Pager } from './parts/controls.js'
import { Alerts, Empty, Loaded, Name, Skeleton } from './parts/feedback.js'
import type { Route } from './session.js'

/** A text to announce; `turn` distinguishes two equal texts. */
interface Announcement {
  text: string
  turn: number
}

interface ShellProps {
  hasSession: boolean
  isOwnPage: boolean
  announcement: Announcement
  children: ComponentChildren
}

/** The frame of every screen. */
export function Shell ({ hasSession, isOwnPage, announcement, children }: ShellProps) {
  const { returnUrl, state, messages: { shell } } = usePortal()
  // Pages of the host already have a main part.
  const Main = isOwnPage ? 'main' : 'div'
  return (
    // In a frame, the name distinguishes it from the main part of the embedding page.
    <Main class='app' aria-label={isOwnPage ? shell.title : undefined}>
      {returnUrl !== null && isOwnPage && parent === window && (
        <nav class='back'><a class='link' href={returnUrl}><Icon name='back' /> {shell.returnTo}</a></nav>
      )}
      <Alerts />
      {hasSession ? children : state === 'renewing' ? <Skeleton lines={4} /> : <NoSession />}
      <Announcer {...announcement} />
    </Main>
  )
}

function NoSession () {
  const { askAgain, messages: { shell: { session, retry } } } = usePortal()
  if (askAgain === null) return <Empty title={session.none} text={session.noneText} />
  return (
    <div role='alert'>
      <Empty
        title={session.silent}
        text={session.silentText}
        action={<Button kind='primary' onClick={askAgain}>{retry}</Button>}
      />
    </div>
  )
}

/** Before the texts of the page are there. English, because nothing else is. */
export function Unworded ({ isCutOff }: { isCutOff: boolean }) {
  return (
    <div class='app' aria-busy={!isCutOff}>
      {isCutOff && (
        <p role='alert' lang='en' dir='ltr'>
          This page could not be loaded. Check your connection: it loads as soon as it can.
        </p>
      )}
      {!isCutOff && <div class='skeleton'><span class='skeleton-line' /><span class='skeleton-line' /></div>}
    </div>
  )
}

/** Announces results to screen readers. */
function Announcer ({ text, turn }: Announcement) {
  return <p class='unseen' role='status' aria-live='polite'><span key={turn}>{text}</span></p>
}

interface ScreenProps {
  title: ComponentChildren
  /** Under the title. */
  intro?: ComponentChildren
  /** Buttons next to the title, the main one last. */
  actions?: ComponentChildren
  /** The screen above. */
  back?: { to: Route, label: string }
  children: ComponentChildren
}

/** The frame of a screen. Its title gets the focus when the screen is entered from another one. */
export function Screen ({ title, intro, actions, back, children }: ScreenProps) {
  const { messages, visits, title: heading } = usePortal()
  // A layout effect, so that the focus moves before the next key press.
  useLayoutEffect(() => {
    // The first screen leaves the focus where the page has it.
    if (visits.current > 0) heading.current?.focus()
    visits.current += 1
  }, [])
  return (
    <>
      {back !== undefined && (
        <nav class='back' aria-label={messages.shell.back}>
          <Link to={back.to}><Icon name='back' /> <Name>{back.label}</Name></Link>
        </nav>
      )}
      <header class='screen-head'>
        <div>
          <h1 ref={heading} tabIndex={-1}>{title}</h1>
          {intro !== undefined && <p class='intro'>{intro}</p>}
        </div>
        {actions !== undefined && <div class='actions'>{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A link to the form that adds something to a list. */
export function AddLink ({ to, children }: { to: Route, children: string }) {
  return <Link to={to} look='button button-primary'><Icon name='plus' /> <span>{children}</span></Link>
}

interface ListScreenProps<Row> {
  title: string
  intro: string
  /** Names the list. */
  label: string
  list: PagedQuery<Row>
  empty: { title: string, text: string }
  /** How to add the first row and others. */
  add: ComponentChildren
  children: (row: Row) => ComponentChildren
}

/** A screen with a list, page by page. */
export function ListScreen<Row> ({ title, intro, label, list, empty, add, children }: ListScreenProps<Row>) {
  const isEmpty = list.value?.meta.total === 0
  return (
    <Screen title={title} intro={intro} actions={isEmpty ? undefined : add}>
      <Loaded query={list}>
        {({ data }) => isEmpty
          ? <Empty {...empty} action={add} />
          : (
            <>
              <ul class='rows' aria-label={label} aria-busy={list.isLoading}>{data.map(children)}</ul>
              <Pager list={list} />
            </>
            )}
      </Loaded>
    </Screen>
  )
}
