import type { PortalMessages } from '../types.js'

export const form: PortalMessages['form'] = {
  create: {
    title: 'Webhook hinzufügen',
    intro: 'Wohin sollen wir Anfragen senden, und zu welchen Ereignissen?',
    submit: 'Webhook anlegen'
  },
  edit: {
    title: 'Webhook bearbeiten',
    submit: 'Änderungen speichern',
    saved: '{name} wurde gespeichert'
  },
  name: {
    label: 'Name',
    hint: 'Nur Sie sehen ihn.',
    example: 'CRM-Abgleich'
  },
  url: {
    label: 'URL des Endpunkts',
    hint: 'Eine öffentliche https-Adresse, die POST-Anfragen annimmt.'
  },
  events: {
    label: 'Ereignisse',
    hint: 'Zu jedem davon senden wir eine Anfrage.',
    search: 'Ereignisse suchen',
    chosen: '{count} von {total} gewählt',
    all: 'Alle von {group}',
    found: { one: '{count} Ereignis gefunden', other: '{count} Ereignisse gefunden' },
    nothing: 'Kein Ereignis passt',
    example: 'Beispiel',
    exampleOf: 'Beispiel für {name}',
    gone: 'Wird nicht mehr angeboten: entfernen Sie es'
  },
  faults: {
    nameBlank: 'Geben Sie einen Namen ein, zum Beispiel CRM-Abgleich',
    urlBlank: 'Geben Sie die Adresse Ihres Endpunkts ein',
    urlInvalid: 'Geben Sie die vollständige Adresse ein, zum Beispiel https://hooks.example.com/recruiting',
    urlParts: 'Entfernen Sie Benutzername, Passwort und # mit allem danach',
    urlHttps: 'Verwenden Sie eine Adresse, die mit https:// beginnt',
    urlPublic: 'Verwenden Sie einen öffentlichen Hostnamen. Adressen in Ihrem Netz erreichen wir nicht.',
    eventsNone: 'Wählen Sie mindestens ein Ereignis',
    eventsGone: 'Entfernen Sie die Ereignisse, die nicht mehr angeboten werden'
  },
  refused: {
    title: 'Der Dienst hat das nicht angenommen',
    text: 'Prüfen Sie, ob der Endpunkt eine öffentliche https-Adresse ist und Ihr Konto nicht zu viele Webhooks hat.'
  },
  leave: {
    title: 'Ohne Speichern verlassen?',
    text: 'Ihre Eingaben gehen verloren.',
    stay: 'Bleiben',
    leave: 'Verlassen'
  }
}
