import t from 'tap'
import { assertAcceptedByPlugin, assertRefusedByPlugin } from '../fixtures/refused-option.js'

t.test('openapi is a boolean or an object', async (t) => {
  for (const [openapi, shown] of [['true', '"true"'], [1, '1'], [null, 'null'], [[], 'an array']] as const) {
    await assertRefusedByPlugin(t, [{ openapi }, 'openapi', 'a boolean or an object', shown])
  }
  await assertRefusedByPlugin(t, [{ openapi: { title: 'x' } }, 'openapi.title', 'a known name such as info', '"title"'])
  const info = { contact: { name: 'Acme' }, license: { name: 'Proprietary' }, title: undefined }
  for (const openapi of [true, false, {}, { info: {} }, { info }, { servers: [{ url: '/', description: undefined }] }]) {
    await assertAcceptedByPlugin(t, { openapi })
  }
})

t.test('openapi.info holds texts, a contact and a license', async (t) => {
  await assertRefusedByPlugin(t, [{ openapi: { info: { licence: {} } } }, 'openapi.info.licence', 'a known name such as license', '"licence"'])
  for (const [info, shown] of [['Acme', '"Acme"'], [null, 'null'], [[], 'an array']] as const) {
    await assertRefusedByPlugin(t, [{ openapi: { info } }, 'openapi.info', 'an object', shown])
  }
  for (const name of ['title', 'version', 'description', 'termsOfService']) {
    for (const [value, shown] of [['', '""'], [1, '1'], [null, 'null']] as const) {
      await assertRefusedByPlugin(t, [{ openapi: { info: { [name]: value } } }, `openapi.info.${name}`, 'text', shown])
    }
  }
  for (const name of ['contact', 'license']) {
    await assertRefusedByPlugin(t, [{ openapi: { info: { [name]: 'Acme' } } }, `openapi.info.${name}`, 'an object', '"Acme"'])
  }
  await assertRefusedByPlugin(t, [{ openapi: { info: { contact: { mail: 'a@b.c' } } } }, 'openapi.info.contact.mail', 'a known name such as email', '"mail"'])
  await assertRefusedByPlugin(t, [{ openapi: { info: { contact: { email: 1 } } } }, 'openapi.info.contact.email', 'text', '1'])
  await assertRefusedByPlugin(t, [{ openapi: { info: { license: { url: 'https://x.example' } } } }, 'openapi.info.license.name', 'text', 'undefined'])
})

t.test('openapi.servers is a list of URLs', async (t) => {
  for (const [servers, shown] of [['/', '"/"'], [[], 'an array'], [null, 'null']] as const) {
    await assertRefusedByPlugin(t, [{ openapi: { servers } }, 'openapi.servers', 'an array of at least one server', shown])
  }
  await assertRefusedByPlugin(t, [{ openapi: { servers: ['/'] } }, 'openapi.servers[0]', 'an object', '"/"'])
  await assertRefusedByPlugin(t, [{ openapi: { servers: [{ url: '/' }, { description: 'x' }] } }, 'openapi.servers[1].url', 'text', 'undefined'])
  await assertRefusedByPlugin(t, [{ openapi: { servers: [{ uri: '/' }] } }, 'openapi.servers[0].uri', 'a known name such as url', '"uri"'])
})

t.test('openapi.inHostDocument is a boolean', async (t) => {
  for (const [inHostDocument, shown] of [['yes', '"yes"'], [1, '1'], [null, 'null']] as const) {
    await assertRefusedByPlugin(t, [{ openapi: { inHostDocument } }, 'openapi.inHostDocument', 'a boolean', shown])
  }
  await assertAcceptedByPlugin(t, { openapi: { inHostDocument: true } })
})
