import fc from 'fast-check'
import t from 'tap'
import { compareText } from '../../../src/memory/lists/page.js'

function compareCodePoints (a: string, b: string): number {
  const pointsA = [...a].map((character) => character.codePointAt(0) ?? 0)
  const pointsB = [...b].map((character) => character.codePointAt(0) ?? 0)
  const at = pointsA.findIndex((point, index) => point !== pointsB[index])
  if (at === -1) return pointsA.length - pointsB.length
  return (pointsA[at] ?? 0) - (pointsB[at] ?? -1)
}

t.test('text is ordered by code point, not by UTF-16 unit', async (t) => {
  const words = ['\u{1f600}', '\uffee', '\ue000', '\ud7ff', 'é', 'z', 'a', 'Z', 'ab', '', '\u{1f600}a', '\u{10000}']

  t.strictSame(words.toSorted(compareText), [
    '', 'Z', 'a', 'ab', 'z', 'é', '\ud7ff', '\ue000', '\uffee', '\u{10000}', '\u{1f600}', '\u{1f600}a'
  ])
})

t.test('any two strings are ordered as their code points are', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) =>
    Math.sign(compareText(a, b)) === Math.sign(compareCodePoints(a, b))
  ))
})

t.test('strings that share a beginning are ordered by what follows', async () => {
  const unit = fc.string({ unit: 'binary' })
  fc.assert(fc.property(unit, unit, unit, (start, a, b) =>
    Math.sign(compareText(start + a, start + b)) === Math.sign(compareCodePoints(a, b))
  ))
})
