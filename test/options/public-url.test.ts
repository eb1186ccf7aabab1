import t from 'tap'
import { assertAccepted, assertAcceptedByPlugin, assertRefused, assertRefusedByPlugin } from '../fixtures/refused-option.js'

const expected = 'a URL such as https://api.example.com, without query and fragment'

t.test('publicUrl is an absolute URL of http or https, without query and fragment', async (t) => {
  const wrong = [
    'api.example.com', '/ats', '//api.example.com', 'ftp://api.example.com', 'https://user@api.example.com', 'https://:p@api.example.com',
    'https://api.example.com?x=1', 'https://api.example.com/?', 'https://api.example.com#x', 'https://api.example.com/#',
    'https://api.example.com\\ats', ' https://api.example.com', 'https://api.example.com/a b', 'https://'
  ]
  for (const publicUrl of wrong) {
    await assertRefused(t, [{ publicUrl }, 'publicUrl', expected, JSON.stringify(publicUrl)])
  }
  await assertRefusedByPlugin(t, [{ publicUrl: 7 }, 'publicUrl', expected, '7'])
  await assertRefusedByPlugin(t, [{ publicUrl: null }, 'publicUrl', expected, 'null'])
  for (const publicUrl of ['https://api.example.com', 'http://10.0.0.1:3000/', 'https://example.com/ats/', '', undefined]) {
    await assertAccepted(t, { publicUrl })
    await assertAcceptedByPlugin(t, { publicUrl })
  }
})
