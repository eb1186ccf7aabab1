import fc from 'fast-check'
import t from 'tap'
import { contrastOf, readableOn, textOn } from '../../../src/portal/contrast.js'
import { themeProperties } from '../../../src/portal/page/theme.js'

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

t.test('text on any accent can be read, and an accent as text on any ground', (t) => {
  fc.assert(fc.property(colour, colour, (accent, ground) => {
    return contrastOf(textOn(accent), accent) >= 4.5 && contrastOf(readableOn(ground, accent), ground) >= 4.5
  }))
  t.equal(readableOn('#ffffff', '#0000ff'), '#0000ff', 'one that is readable stays')
  t.end()
})

t.test('a session overrides the look of the vendor, part by part', (t) => {
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
  t.end()
})
