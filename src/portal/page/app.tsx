import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { en } from '../messages/en.js'
import { createApi } from './api/api.js'
import { createSend } from './api/client.js'
import type { PageConfig } from './config.js'
import { useTheme } from './look/use-theme.js'
import { useRoute } from './route/use-route.js'
import type { LogPlace } from './screens/log/place.js'
import { Shell } from './screens/shell.js'
import type { SessionKeeper } from './session/keeper.js'
import { type Portal, PortalContext } from './state/portal.js'
import { useSession } from './state/use-session.js'
import { createFormat } from './text/format.js'
import { chooseLanguage } from './text/locale.js'

interface AppProps {
  host: HTMLElement
  config: PageConfig
  keeper: SessionKeeper
  isOwnPage: boolean
}

/** The portal, in its shadow root. */
export function App ({ host, config, keeper, isOwnPage }: AppProps) {
  const { session, state } = useSession(keeper)
  const navigation = useRoute(isOwnPage)
  const [announcement, setAnnouncement] = useState({ text: '', turn: 0 })
  const announce = useCallback((text: string) => setAnnouncement(({ turn }) => ({ text, turn: turn + 1 })), [])
  const [isStyled, setStyled] = useState(false)
  const visits = useRef(0)
  const title = useRef<HTMLHeadingElement>(null)
  const logPlace = useRef<LogPlace | null>(null)
  const wanted = session?.locale ?? null
  const language = useMemo(() => chooseLanguage([...wanted === null ? [] : [wanted], ...navigator.languages], { en }, config.messages), [wanted])
  const format = useMemo(() => createFormat(language), [language])
  const api = useMemo(() => createApi(createSend({ base: apiBase(), keeper, fetch: (url, init) => fetch(url, init), now: Date.now })), [keeper])
  const graceEnds = useMemo(() => new Map<number, string | null>(), [session?.tenantSlug])
  useTheme(host, { vendor: config.theme, session: session?.theme ?? {}, isOwnPage })
  useEffect(() => {
    host.lang = language.locale
    host.dir = language.direction
    if (isOwnPage) Object.assign(document.documentElement, { lang: language.locale, dir: language.direction })
  }, [language])

  const portal: Portal = {
    api,
    format,
    can: (capability) => session?.capabilities.has(capability) ?? false,
    ...navigation,
    announce,
    visits,
    title,
    graceEnds,
    logPlace,
    returnUrl: session?.returnUrl ?? null
  }
  const show = () => setStyled(true)
  return (
    <PortalContext.Provider value={portal}>
      <link rel='stylesheet' href={new URL(config.style, import.meta.url).href} onLoad={show} onError={show} />
      {isStyled && <Shell key={session?.tenantSlug} state={state} hasSession={session !== null} isOwnPage={isOwnPage} announcement={announcement} />}
    </PortalContext.Provider>
  )
}

/** The prefix of the API, with a slash at its end: files are two levels below it, also behind a proxy that rewrites paths. */
function apiBase (): string {
  return new URL('../../', import.meta.url).href
}
