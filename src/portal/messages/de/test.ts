import type { PortalMessages } from '../types.js'

export const test: PortalMessages['test'] = {
  action: 'Test senden',
  title: 'Test senden',
  text: 'Wir senden jetzt eine Anfrage, ohne Wiederholung. Sie enthält "test": true und keine Daten, und zählt nicht als Fehler.',
  eventType: 'Ereignistyp',
  send: 'Test senden',
  again: 'Erneut senden',
  waiting: 'Warten auf Ihren Endpunkt, höchstens 10 Sekunden',
  delivered: 'Zugestellt: Ihr Endpunkt hat mit {status} geantwortet, in {duration}',
  answered: 'Ihr Endpunkt hat nach {duration} mit {status} geantwortet.',
  unanswered: 'Keine Antwort, nach {duration}.',
  errors: {
    timeout: { title: 'Ihr Endpunkt hat nicht rechtzeitig geantwortet', text: 'Antworten Sie zuerst und arbeiten Sie danach. Falls Ihr Server keine Anfrage sah: Vielleicht verwirft eine Firewall sie.' },
    connection: { title: 'Wir konnten keine Verbindung herstellen', text: 'Prüfen Sie Hostname und Port in der URL, und ob Ihr Server läuft. Sein Protokoll zeigt, ob die Anfrage ankam.' },
    tls: { title: 'Die sichere Verbindung ist gescheitert', text: 'Prüfen Sie, ob das Zertifikat noch gilt und zum Hostnamen passt, ob Ihr Server die ganze Kette sendet, und ob er TLS 1.2 oder neuer zulässt.' },
    blocked: { title: 'Die Adresse ist nicht öffentlich', text: 'Der Hostname führt zu einer Adresse, die wir nicht aufrufen dürfen. Verwenden Sie eine öffentliche.' },
    http_status: { title: 'Ihr Endpunkt hat die Anfrage abgelehnt', text: 'Nur 200 bis 299 gilt als zugestellt. Suchen Sie diese Anfrage im Protokoll Ihres Servers.' }
  },
  statuses: {
    redirect: 'Weiterleitungen folgen wir nicht: Verwenden Sie die endgültige Adresse.',
    credentials: 'Etwas vor Ihrem Endpunkt verlangt Zugangsdaten, oder Ihr Code hat die Signatur abgelehnt.',
    notFound: 'Unter diesem Pfad gibt es nichts: Prüfen Sie die URL.',
    method: 'Dieser Pfad nimmt keine POST-Anfragen an: Prüfen Sie die URL.',
    gone: 'Bei Ereignissen deaktiviert diese Antwort den Webhook.',
    busy: 'Ihr Endpunkt bittet um langsamere Anfragen.',
    server: 'Ein Fehler in Ihrem Code oder davor. Sein Protokoll sagt mehr.'
  }
}
