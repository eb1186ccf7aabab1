import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createApi, createSend } from './api.js'
import { createDraftStore, tabStorage } from './draft.js'
import { DeliveryScreen } from './delivery.js'
import { EndpointScreen } from './endpoint.js'
import { EndpointsScreen } from './endpoints.js'
import { CreateScreen, EditScreen } from './form.js'
import { CreateKeyScreen, KeysScreen, Sections } from './keys.js'
import {
  type CurrentSession,
  type KeyFacts,
  type Portal,
  PortalContext,
  useLanguage,
  usePortal,
  useRoute,
  useSession,
  useTheme
} from './hooks.js'
import type { LogPlace } from './deliveries.js'
import type { Session, SessionManager, ThemeHint } from './session.js'
import { LeaveDialog } from './parts/dialogs.js'
import { Shell, Unworded } from './shell.js'
import { type Language, type LanguageFiles, createFormat } from './text.js'

/** The configuration that the server passes, in the attribute `config` or by `define`. */
export interface PageConfig {
  /** Name of the style sheet, next to the script. */
  style: string
  /** The vendor's look. A session can override it. */
  theme: ThemeHint
  /** Names of the files with texts, next to the script. */
  messages: LanguageFiles
  /** Exact origins that may embed the page and renew its session. `'self'` is the page's own. */
  origins: string[]
  /** Exact origins that the portal may link back to, besides its own. */
  returnOrigins: string[]
  /** The addresses that notifications come from; empty if the vendor does not say. */
  sourceIps: string[]
  /** The limits of the keys that customers create; absent or `null` if they manage none. */
  keys?: KeyFacts | null
}

interface AppProps {
  host: HTMLElement
  config: PageConfig
  sessions: SessionManager
  isOwnPage: boolean
}

/** The portal, in its shadow root. It has no texts until those of its language are there. */
export function App (props: AppProps) {
  const { host, config, sessions, isOwnPage } = props
  const current = useSession(sessions)
  const [isStyled, setStyled] = useState(false)
  const { language, isCutOff } = useLanguage(config.messages, current)
  useTheme(host, { vendor: config.theme, session: current.session?.theme ?? {}, isOwnPage })
  const show = () => setStyled(true)
  return (
    <>
      <link rel='stylesheet' href={new URL(config.style, import.meta.url).href} onLoad={show} onError={show} />
      {isStyled &&
        (language === null
          ? <Unworded isCutOff={isCutOff} />
          : <WordedApp {...props} {...current} language={language} />)}
    </>
  )
}

type WordedAppProps = AppProps & CurrentSession & { language: Language }

function WordedApp (props: WordedAppProps) {
  const { host, config, sessions, isOwnPage, session, state, offered, returnUrl, language } = props
  const navigation = useRoute(isOwnPage)
  const [announcement, setAnnouncement] = useState({ text: '', turn: 0 })
  const announce = useCallback((text: string) => setAnnouncement(({ turn }) => ({ text, turn: turn + 1 })), [])
  const visits = useRef(0)
  const title = useRef<HTMLHeadingElement>(null)
  const logPlace = useRef<LogPlace | null>(null)
  const format = useMemo(() => createFormat(language), [language])
  const api = useMemo(
    () => createApi(createSend({ base: apiBase(), sessions, fetch: (url, init) => fetch(url, init), now: Date.now })),
    [sessions]
  )
  const drafts = useMemo(
    () => createDraftStore({ tab: tabStorage(), scope: `${apiBase()}${session?.tenantSlug ?? ''}`, now: Date.now }),
    [session?.tenantSlug]
  )
  useLayoutEffect(() => {
    host.lang = language.locale
    host.dir = language.direction
    if (isOwnPage) Object.assign(document.documentElement, { lang: language.locale, dir: language.direction })
  }, [language])

  const portal: Portal = {
    ...format,
    api,
    can: (capability) => session?.capabilities.has(capability) ?? false,
    ...navigation,
    announce,
    visits,
    title,
    logPlace,
    state,
    askAgain: sessions.canAsk() ? sessions.askAgain : null,
    drafts,
    returnUrl,
    sourceIps: config.sourceIps,
    keys: config.keys ?? null
  }
  const { messages: { shell: { switch: texts } }, text } = format
  const take = (session: Session) => {
    sessions.accept(session)
    navigation.leave({ screen: 'endpoints' })
  }
  return (
    <PortalContext.Provider value={portal}>
      <Shell key={session?.tenantSlug} hasSession={session !== null} isOwnPage={isOwnPage} announcement={announcement}>
        <Sections />
        <CurrentScreen />
      </Shell>
      {offered !== null && (
        <LeaveDialog
          texts={{
            title: text(texts.title, { name: offered.tenantSlug }),
            text: texts.text,
            stay: texts.decline,
            leave: texts.accept
          }}
          onStay={sessions.decline}
          onLeave={() => take(offered)}
        />
      )}
    </PortalContext.Provider>
  )
}

/**
 * The prefix of the API, with a slash at its end: files are two levels below it, also behind a proxy that rewrites
 * paths.
 */
function apiBase (): string {
  return new URL('../../', import.meta.url).href
}

/** The screen of the route. The key makes it a new one for another webhook. */
function CurrentScreen () {
  const { route, can, keys } = usePortal()
  const hasKeys = keys !== null && can('keys')
  switch (route.screen) {
    case 'create':
      return can('write') && can('secrets') ? <CreateScreen /> : <EndpointsScreen />
    case 'edit':
      return can('write')
        ? <EditScreen key={route.id} id={route.id} />
        : <EndpointScreen key={route.id} id={route.id} />
    case 'endpoint':
      return <EndpointScreen key={route.id} id={route.id} />
    case 'delivery':
      return <DeliveryScreen key={`${route.id}/${route.deliveryId}`} id={route.id} deliveryId={route.deliveryId} />
    case 'keys':
      return hasKeys ? <KeysScreen /> : <EndpointsScreen />
    case 'newKey':
      return hasKeys ? <CreateKeyScreen /> : <EndpointsScreen />
    default:
      return <EndpointsScreen />
  }
}
