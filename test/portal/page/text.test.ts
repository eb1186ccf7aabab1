import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import t from 'tap'
import { attemptDetails, explanations } from '../../../src/core/api/deliveries.js'
import { en } from '../../../src/around/portal/messages.js'
import { languages } from '../../../src/around/portal/pages.js'
import { adviceFor, choose, chooseLanguage, describeFailure, describeReason, createFormat, fill, prettyJson, showControls } from '../../../src/around/portal/page/text.js'
import { formatRoute, parseRoute, type Route } from '../../../src/around/portal/page/session.js'
import { contrastOf, readableOn, textOn, themeProperties } from '../../../src/around/portal/theme.js'

t.test('placeholder values are isolated from the direction of the surrounding text', async (t) => {
  t.equal(fill('Delete {name}?', { name: 'مرحبا' }, String), 'Delete \u2068مرحبا\u2069?')
  t.equal(fill('{count} of {total}', { count: 1, total: 2 }, (value) => `#${value}`), '#1 of #2')
  t.equal(fill('{unknown} stays', {}, String), '{unknown} stays')
})

t.test('characters that would reorder the surrounding text are escaped', async (t) => {
  t.equal(showControls('evil\u202egpj.exe \u200f مرحبا'), 'evil\\u202egpj.exe \u200f مرحبا')
  t.equal(fill('Delete {name}?', { name: '\u2069\u202e' }, String), 'Delete \u2068\\u2069\\u202e\u2069?')
})

t.test('plural texts follow the rules of the language', async (t) => {
  const days = { one: '{count} день', few: '{count} дня', many: '{count} дней', other: '{count} дня' }
  const rules = new Intl.PluralRules('ru')
  t.strictSame([1, 2, 5, 21].map((count) => choose(days, count, rules)), ['{count} день', '{count} дня', '{count} дней', '{count} день'])
  t.equal(choose({ other: 'all' }, 1, rules), 'all')
})

t.test('every language has the same texts with the same placeholders', async (t) => {
  const collect = (value: unknown): unknown => {
    if (typeof value === 'string') return value === '' ? 'empty' : [...value.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
    return Object.fromEntries(Object.entries(Object(value)).map(([key, child]) => [key, collect(child)]))
  }
  for (const [locale, messages] of Object.entries(languages)) t.strictSame(collect(messages), collect(en), locale)
})

t.test('each cause of a failure has a text, and a remedy in the docs; other causes show the error', async (t) => {
  const [, docs = ''] = (await readFile('docs/webhooks.md', 'utf8')).split('### Causes')
  t.strictSame(Array.from(docs.matchAll(/^\| `(\w+)`/gm), ([, name]) => name), Object.keys(attemptDetails))
  t.strictSame(Object.keys(en.test.details), Object.keys(attemptDetails))
  const failed = { response_status: null, error: 'tls', detail: 'certificate_expired' }
  t.strictSame(describeFailure(failed, en.test), en.test.details.certificate_expired)
  t.equal(adviceFor(failed, en.test), en.test.details.certificate_expired.text)
  for (const detail of [null, 'of_a_later_version', 'toString']) t.equal(adviceFor({ ...failed, detail }, en.test), en.test.errors.tls.text)
})

t.test('each reason why a webhook got an event or not has its own text, in every language', async (t) => {
  for (const [locale, messages] of Object.entries(languages)) {
    const texts = explanations.map((reason) => describeReason(reason, messages))
    t.ok(texts.every((text) => text !== ''), locale)
    t.equal(new Set(texts).size, explanations.length, locale)
  }
  t.strictSame((['delivered', 'held', 'filtered'] as const).map((reason) => describeReason(reason, en)),
    ['Delivered', 'Nothing is being sent right now', 'The event does not match the filters'])
})

t.test('the first wanted language with texts is chosen, with its dates and numbers', async (t) => {
  const pick = (wanted: string[], own = {}) => chooseLanguage(wanted, { en: 'en.json', de: 'de.json', ...own })
  t.strictSame(pick(['fr', 'de-AT', 'en']), { file: 'de.json', locale: 'de-AT', direction: 'ltr' })
  t.strictSame(pick(['xx', 'not a locale']), { file: 'en.json', locale: 'en', direction: 'ltr' })
  t.strictSame(pick([]), { file: 'en.json', locale: 'en', direction: 'ltr' })
  t.strictSame(pick(['ar-EG'], { ar: 'ar.json' }), { file: 'ar.json', locale: 'ar-EG', direction: 'rtl' })
  t.strictSame(pick(['zh-TW', 'zh-Hant-TW'], { 'zh-Hant': 'zh.json' }), { file: 'zh.json', locale: 'zh-Hant-TW', direction: 'ltr' })
})

t.test('numbers, times and lists follow the locale', async (t) => {
  const german = createFormat({ messages: languages.de, locale: 'de', direction: 'ltr' })
  const english = createFormat({ messages: en, locale: 'en', direction: 'ltr' })
  const plain = (text: string) => text.replaceAll(/\s/g, ' ')
  t.equal(german.number(1234.5), '1.234,5')
  t.equal(german.plural({ one: '{count} Tag von {name}', other: '{count} Tage von {name}' }, 2000, { name: 'A' }), '2.000 Tage von \u2068A\u2069')
  t.equal(german.pluralOver({ one: '{count} Tag', other: '{count} Tage' }, 10_000), '10.000+ Tage')
  t.equal(english.plural({ one: '{count} day', other: '{count} days' }, 1), '1 day')
  t.equal(german.text('Seite {page}', { page: 3 }), 'Seite 3')
  t.equal(german.list(['a', 'b', 'c']), 'a, b und c')
  t.equal(plain(english.duration(87)), '87 ms')
  t.equal(plain(english.duration(1540)), '1.5 sec')
  const noon = new Date(2026, 2, 1, 12, 0, 0).getTime()
  t.equal(english.date('2026-09-01T00:00:00.000Z'), 'Sep 1, 2026')
  t.equal(plain(english.instant(noon)), 'Mar 1, 2026, 12:00:00 PM')
  t.equal(plain(english.time(noon, noon + 60_000)), '12:00 PM')
  t.equal(plain(english.time(noon, noon + 86_400_000)), 'Mar 1, 2026, 12:00 PM')
  const ages = [0, 5000, 59_999, 60_000, 7_200_000, 90_000_000, 5_259_600_000, 63_115_200_000]
  const ago = ages.map((ms) => english.relative(noon - ms, noon))
  t.strictSame(ago, ['now', '5 seconds ago', '59 seconds ago', '1 minute ago', '2 hours ago', 'yesterday', '2 months ago', '2 years ago'])
  t.equal(english.relative(noon + 5000, noon), 'in 5 seconds')
})

t.test('JSON is indented and keeps its numbers, escapes and repeated names', async (t) => {
  t.equal(
    prettyJson('{"id":12345678901234567890,"a":[1.50,{}, [] ,"x\\"]y\\u00e9"],"a":null}'),
    '{\n  "id": 12345678901234567890,\n  "a": [\n    1.50,\n    {},\n    [],\n    "x\\"]y\\u00e9"\n  ],\n  "a": null\n}'
  )
  t.equal(prettyJson('"text"'), '"text"')
  t.equal(prettyJson('{not json'), '{not json')
})

t.test('every route has a fragment and is read from it', async (t) => {
  const places: Array<[Route, string]> = [
    [{ screen: 'endpoints' }, '#/'],
    [{ screen: 'create' }, '#/new'],
    [{ screen: 'agents' }, '#/agents'],
    [{ screen: 'endpoint', id: 12 }, '#/12'],
    [{ screen: 'edit', id: 12 }, '#/12/edit'],
    [{ screen: 'delivery', id: 12, deliveryId: 5 }, '#/12/deliveries/5']
  ]
  for (const [route, address] of places) {
    t.equal(formatRoute(route), address)
    t.strictSame(parseRoute(address), route)
  }
})

t.test('any other fragment leads to the list', async (t) => {
  for (const address of ['', '#', '#/x', '#/1/2', '#/12345678901234567', '#/1/deliveries', '#token=a']) t.strictSame(parseRoute(address), { screen: 'endpoints' }, address)
})

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

t.test('text on any accent, and an accent on any background, has enough contrast', async (t) => {
  fc.assert(fc.property(colour, colour, (accent, ground) => {
    return contrastOf(textOn(accent), accent) >= 4.5 && contrastOf(readableOn(ground, accent), ground) >= 4.5
  }))
  t.equal(readableOn('#ffffff', '#0000ff'), '#0000ff', 'a readable accent stays')
})

t.test("a session overrides single parts of the vendor's look", async (t) => {
  t.strictSame(themeProperties({}, {}), {})
  t.strictSame(themeProperties({ accent: { light: '#0000ff', dark: '#ffff00' }, radius: '2px', font: 'Inter' }, { accent: { dark: '#ffffff' }, radius: '4px', mode: 'dark' }), {
    '--rw-radius': '4px',
    '--rw-font': 'Inter',
    '--rw-accent-light': '#0000ff',
    '--rw-on-accent-light': '#ffffff',
    '--rw-accent-text-light': '#0000ff',
    '--rw-accent-dark': '#ffffff',
    '--rw-on-accent-dark': '#000000',
    '--rw-accent-text-dark': '#ffffff'
  })
})
