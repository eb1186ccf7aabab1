import type { PortalMessages } from '../types.js'

export const endpoints: PortalMessages['endpoints'] = {
  intro: 'Sobald etwas geschieht, senden wir eine signierte Anfrage an Ihre Endpunkte.',
  add: 'Webhook hinzufügen',
  list: 'Ihre Webhooks',
  empty: {
    title: 'Noch keine Webhooks',
    text: 'Nennen Sie uns die Adresse eines Endpunkts und wählen Sie die Ereignisse, die er erhalten soll. Sie bekommen ein Secret, mit dem Sie jede Anfrage prüfen können.',
    readOnly: 'Bisher wurde keiner angelegt. Fragen Sie eine Person, die Einstellungen ändern darf.'
  },
  events: { one: '{count} Ereignistyp', other: '{count} Ereignistypen' },
  health: {
    active: 'Aktiv',
    failing: 'Fehlerhaft',
    paused: 'Pausiert',
    disabled: 'Deaktiviert',
    since: 'Seit {time}',
    givenUp: { one: '{count} Ereignis nicht zugestellt', other: '{count} Ereignisse nicht zugestellt' },
    inactive: 'Von Ihrem Team ausgeschaltet',
    gone: 'Der Endpunkt hat mit 410 Gone geantwortet',
    failedTooLong: 'Der Endpunkt war zu lange fehlerhaft'
  }
}
