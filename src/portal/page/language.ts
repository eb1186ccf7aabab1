import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PortalMessages } from '../messages.js'
import type { CurrentSession } from './hooks.js'
import { type Language, type LanguageFiles, chooseLanguage } from './text.js'

const retryMs = 2000

/**
 * Loads the texts of the page's language, again until that succeeds. The previous ones stay while others load. Waits
 * for the first session, which may name a language.
 */
export function useLanguage (
  files: LanguageFiles,
  { session, state }: CurrentSession
): { language: Language | null; isCutOff: boolean } {
  const [language, setLanguage] = useState<Language | null>(null)
  const [isCutOff, setCutOff] = useState(false)
  const isKnown = session !== null || state !== 'renewing'
  const wanted = session?.locale ?? null
  const choice = useMemo(
    () => chooseLanguage([...(wanted === null ? [] : [wanted]), ...navigator.languages], files),
    [wanted]
  )
  useEffect(() => {
    if (!isKnown) return
    const controller = new AbortController()
    let timer = 0
    const load = async () => {
      const messages = await readTexts(choice.file, controller.signal)
      if (controller.signal.aborted) return
      setCutOff(messages === null)
      if (messages === null) timer = setTimeout(load, retryMs)
      else setLanguage({ messages, locale: choice.locale, direction: choice.direction })
    }
    load()
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [choice, isKnown])
  return { language, isCutOff }
}

async function readTexts (file: string, signal: AbortSignal): Promise<PortalMessages | null> {
  try {
    const response = await fetch(new URL(file, import.meta.url), {
      signal,
      credentials: 'omit',
      referrerPolicy: 'no-referrer'
    })
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}
