import type { PortalMessages } from '../types.js'

export const delivery: PortalMessages['delivery'] = {
  back: 'Zurück zum Webhook',
  eventId: 'Ereignis-ID',
  eventType: 'Ereignistyp',
  created: 'Aufgezeichnet',
  deliveredAt: 'Zugestellt',
  next: 'Nächster Versuch',
  due: 'Jetzt fällig',
  outcome: {
    delivered: { one: 'Beim ersten Versuch zugestellt.', other: 'Nach {count} Versuchen zugestellt.' },
    failed: { one: 'Nach {count} Versuch wird nicht mehr von selbst gesendet.', other: 'Nach {count} Versuchen wird nicht mehr von selbst gesendet.' },
    first: 'Wird gleich gesendet.',
    pending: { one: '{count} Versuch ist fehlgeschlagen. Wir versuchen es von selbst erneut.', other: '{count} Versuche sind fehlgeschlagen. Wir versuchen es von selbst erneut.' },
    skipped: 'Der Webhook war nicht aktiv, deshalb wurde nichts gesendet.',
    cancelled: 'Wird nicht mehr gesendet, weil die Daten des Ereignisses gelöscht wurden.'
  },
  attempts: {
    title: 'Versuche',
    none: 'Bisher wurde nichts gesendet.',
    number: 'Versuch {number}',
    duration: 'Dauer: {duration}',
    excerpt: 'Anfang der Antwort'
  },
  body: {
    title: 'Inhalt',
    label: 'Inhalt der Anfrage',
    note: 'Zum Lesen eingerückt. Kopieren ergibt genau das, was gesendet wird.',
    hidden: 'Ihre Sitzung darf Inhalte und Antworten nicht sehen.',
    erasedTitle: 'Die Daten dieses Ereignisses wurden gelöscht',
    erasedText: 'Jemand hat die Löschung der eigenen Daten verlangt. Nur das ist übrig, und nur das würde gesendet.'
  },
  retry: {
    again: 'Erneut senden',
    now: 'Jetzt versuchen',
    againSent: 'Als neue Zustellung erneut gesendet',
    nowSent: 'Ein Versuch wurde gestartet',
    open: 'Neue Zustellung öffnen',
    inactiveTitle: 'Der Webhook ist nicht aktiv',
    inactiveText: 'Erneut senden können Sie, sobald der Webhook eingeschaltet ist.',
    toWebhook: 'Zum Webhook'
  }
}
