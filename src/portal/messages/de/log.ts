import type { PortalMessages } from '../types.js'

export const log: PortalMessages['log'] = {
  title: 'Zustellungen',
  total: { one: '{count} Zustellung', other: '{count} Zustellungen' },
  list: 'Zustellungen, neueste zuerst',
  keys: 'Bild ab und Bild auf gehen von einer Zustellung zur nächsten. Strg und Pos1 gehen zu den Filtern, Strg und Ende verlassen die Liste.',
  end: 'Ende der Zustellungen',
  filter: {
    label: 'Zustellungen filtern',
    status: 'Status',
    anyStatus: 'Alle',
    eventType: 'Ereignistyp',
    anyType: 'Alle',
    eventId: 'Ereignis-ID',
    clear: 'Filter zurücksetzen'
  },
  empty: {
    title: 'Noch keine Zustellungen',
    text: 'Ereignisse erscheinen hier, sobald sie geschehen. Um sofort zu sehen, ob Ihr Endpunkt antwortet, senden Sie einen Test: Tests stehen nicht in dieser Liste.'
  },
  noMatch: {
    title: 'Keine Zustellung passt',
    text: 'Mit diesem Status, diesem Ereignistyp und dieser Ereignis-ID wurde nichts gesendet.'
  },
  newer: { one: '{count} neue Zustellung', other: '{count} neue Zustellungen' },
  changed: 'Neueste Änderungen anzeigen',
  status: {
    pending: 'Wartet',
    delivered: 'Zugestellt',
    failed: 'Aufgegeben',
    skipped: 'Übersprungen',
    cancelled: 'Abgebrochen'
  },
  attempts: { one: '{count} Versuch', other: '{count} Versuche' },
  answer: {
    timeout: 'Keine rechtzeitige Antwort',
    connection: 'Keine Verbindung',
    tls: 'Keine sichere Verbindung',
    blocked: 'Adresse nicht erlaubt',
    http_status: 'Antwort {status}',
    none: 'Noch nicht gesendet',
    never: 'Nicht gesendet'
  },
  next: 'Nächster Versuch {when}',
  due: 'Nächster Versuch fällig'
}
