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
  const available = new Map(Object.entries({ ...builtIn, ...own }).map(([name, messages]) => [canonical(name) ?? name, messages]))
  for (const text of wanted) {
    const locale = canonical(text)
    const name = locale === null ? undefined : candidates(locale).find((candidate) => available.has(candidate))
    if (locale === null || name === undefined) continue
    return { messages: complete(available.get(name), builtIn.en), locale, direction: directionOf(locale) }
  }
  return { messages: complete(available.get('en'), builtIn.en), locale: 'en', direction: 'ltr' }
}

/** From `zh-Hant-TW` to `zh-Hant` to `zh`. */
function candidates (locale: string): string[] {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
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

/** A host in plain JavaScript may lack texts, for example after an update: English stands in. */
function complete<Tree> (own: unknown, english: Tree): Tree {
  if (typeof own !== typeof english || own === null) return english
  if (typeof english !== 'object' || english === null) return own as Tree
  const entries = Object.entries({ ...english, ...own as object }).map(([key, value]) => [key, key in english ? complete(value, english[key as keyof Tree]) : value])
  return Object.fromEntries(entries)
}
