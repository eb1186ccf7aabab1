import { useLayoutEffect } from 'preact/hooks'
import type { ThemeHint } from './theme-hint.js'
import { themeProperties } from './theme.js'

/** Sets the look on the element. Through the object model: the page allows no inline styles. */
export function useTheme (host: HTMLElement, { vendor, session, isOwnPage }: { vendor: ThemeHint, session: ThemeHint, isOwnPage: boolean }): void {
  useLayoutEffect(() => {
    const properties = themeProperties(vendor, session)
    for (const [name, value] of Object.entries(properties)) host.style.setProperty(name, value)
    const mode = session.mode ?? vendor.mode ?? 'system'
    const scheme = mode === 'system' ? 'light dark' : mode
    host.style.setProperty('color-scheme', scheme)
    if (!isOwnPage) return
    document.documentElement.style.setProperty('color-scheme', scheme)
    document.body.style.setProperty('margin', '0')
  }, [vendor, session])
}
