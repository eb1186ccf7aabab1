/*
 * Names, headlines and other texts come from strangers. Invisible characters, and those that models may take for a
 * command, become visible.
 */

/** Letters and marks of scripts whose spelling needs joiners: Arabic, N'Ko, Syriac, Mongolian and those of India. */
const joining = String.raw`[[\p{scx=Arab}\p{scx=Nkoo}\p{scx=Syrc}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}` +
  String.raw`\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Mymr}` +
  String.raw`\p{scx=Khmr}\p{scx=Tibt}]&&[\p{L}\p{M}]]`

/** Signs without which the letters before them keep their vowel, such as the Devanagari virama. */
const viramas = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2]`

/** Invisible characters that a name or an emoji needs where they are: one at a time, each after what it changes. */
const needed = [
  // Variants of ideographs, of Mongolian and Myanmar letters, and of emoji.
  String.raw`(?<=\p{sc=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]`,
  String.raw`(?<=[\u1820-\u18aa])\u180e(?=[\u1820-\u18aa])`,
  String.raw`(?<=[\u1000-\u109f\uaa60-\uaa7f])\ufe00`,
  String.raw`(?<=\p{ExtPict})[\ufe0e\ufe0f]`,
  String.raw`(?<=[\d#*])\ufe0f(?=\u20e3)`,
  // Joiners of emoji and of letters.
  String.raw`(?<=\p{ExtPict}[\ufe0f\p{EMod}]?)\u200d(?=\p{ExtPict})`,
  String.raw`(?<=${joining})\u200d`,
  String.raw`(?<=${joining})\u200c(?=${joining})`,
  String.raw`(?<=${viramas})\u200c`
].join('|')

/**
 * Control and format characters but for visible ones of Arabic, Syriac and Kaithi, line separators, private use,
 * everything that Unicode calls ignorable, fillers, and halves of surrogate pairs, which many JSON parsers reject.
 */
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800]--` +
  String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]`

const hiddenUnlessNeeded = new RegExp(`(?<needed>${needed})|${hidden}`, 'gv')

/** Maximum length of a text in the result of a tool, in UTF-16 code units. Longer than any token. */
const maxTextLength = 4000

/** Returns a value with its texts and names of fields escaped and cut. */
export function guardValue (value: unknown): unknown {
  if (typeof value === 'string') return guardText(value)
  if (Array.isArray(value)) return value.map(guardValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [guardText(name), guardValue(member)]))
}

/** Returns a text with hidden characters as `\u202e`, cut to the maximum length. */
export function guardText (text: string): string {
  return cut(text).replace(hiddenUnlessNeeded, (found, kept) => kept ?? escape(found))
}

/** Cuts a long text, and says how long it was. */
function cut (text: string): string {
  if (text.length <= maxTextLength) return text
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, maxTextLength).replace(/[\ud800-\udbff]$/, '')}… (cut, ${text.length} characters)`
}

function escape (character: string): string {
  const code = Number(character.codePointAt(0)).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
