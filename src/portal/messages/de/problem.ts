import type { PortalMessages } from '../types.js'

export const problem: PortalMessages['problem'] = {
  requestId: 'Anfrage-ID',
  retryIn: {
    one: 'Sie können es in {count} Sekunde erneut versuchen.',
    other: 'Sie können es in {count} Sekunden erneut versuchen.'
  },
  bad_request: {
    title: 'Eine Angabe ist ungültig',
    text: 'Prüfen Sie Ihre Eingaben und versuchen Sie es erneut.'
  },
  unauthorized: {
    title: 'Ihre Sitzung ist nicht mehr gültig',
    text: 'Öffnen Sie die Webhooks erneut aus Ihren Einstellungen.'
  },
  forbidden: {
    title: 'Das dürfen Sie nicht',
    text: 'Ihre Sitzung erlaubt das nicht. Fragen Sie einen Administrator Ihres Kontos.'
  },
  not_found: {
    title: 'Das gibt es nicht',
    text: 'Vielleicht wurde es inzwischen gelöscht. Gehen Sie zurück zur Liste.'
  },
  conflict: {
    title: 'Jemand anderes hat das inzwischen geändert',
    text: 'Laden Sie es neu, bevor Sie es ändern.'
  },
  rate_limited: {
    title: 'Zu viele Anfragen',
    text: 'Warten Sie einen Moment und versuchen Sie es dann erneut.'
  },
  unavailable: {
    title: 'Der Dienst ist gerade nicht verfügbar',
    text: 'Das dauert meist nicht lange. Versuchen Sie es gleich noch einmal.'
  },
  internal_error: {
    title: 'Der Dienst konnte das nicht ausführen',
    text: 'Versuchen Sie es erneut. Wenn es wieder passiert, senden Sie die Anfrage-ID an den Support.'
  },
  network: {
    title: 'Der Dienst ist nicht erreichbar',
    text: 'Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.'
  },
  timeout: {
    title: 'Der Dienst hat nicht rechtzeitig geantwortet',
    text: 'Vielleicht wurde es trotzdem ausgeführt. Sehen Sie nach, bevor Sie es erneut versuchen.'
  }
}
