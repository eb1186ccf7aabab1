import type { PortalMessages } from '../../messages/types.js'

/** The texts of the page and the locale of its dates and numbers. */
export interface Language {
  messages: PortalMessages
  locale: string
  direction: 'ltr' | 'rtl'
}

type Catalogue = Readonly<Record<string, PortalMessages>>

const rightToLeft = ['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg']

/**
 * Chooses the first wanted locale for which there are texts, and English without one. Dates and numbers follow the wanted
 * locale, such as `de-AT`, also where the texts are of `de`.
 */
export function chooseLanguage (wanted: readonly string[], builtIn: Catalogue & { en: PortalMessages }, own: Catalogue): Language {
  const available = { ...builtIn, ...own }
  for (const text of wanted) {
    const locale = canonical(text)
    const messages = locale === null ? undefined : firstOf(locale, available)
    if (locale !== null && messages !== undefined) return { messages, locale, direction: directionOf(locale) }
  }
  return { messages: available.en, locale: 'en', direction: 'ltr' }
}

/** Looks for `zh-Hant-TW`, then `zh-Hant`, then `zh`. */
function firstOf (locale: string, available: Catalogue): PortalMessages | undefined {
  const messages = available[locale]
  const end = locale.lastIndexOf('-')
  return messages !== undefined || end === -1 ? messages : firstOf(locale.slice(0, end), available)
}

function canonical (text: string): string | null {
  try {
    return new Intl.Locale(text).toString()
  } catch {
    return null
  }
}

function directionOf (locale: string): 'ltr' | 'rtl' {
  const { script = '' } = new Intl.Locale(locale).maximize()
  return rightToLeft.includes(script) ? 'rtl' : 'ltr'
}
