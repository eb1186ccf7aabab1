import type { PortalMessages } from '../types.js'

export const shell: PortalMessages['shell'] = {
  title: 'Webhooks',
  back: 'Zurück',
  cancel: 'Abbrechen',
  close: 'Schließen',
  copy: 'Kopieren',
  copied: 'Kopiert',
  copyByHand: 'Zum Kopieren Strg+C oder ⌘C drücken',
  loading: 'Wird geladen',
  working: 'Wird ausgeführt',
  retry: 'Erneut versuchen',
  required: 'Pflichtfeld',
  readOnly: 'Sie können hier alles ansehen, aber nichts ändern.',
  returnTo: 'Zurück zum Ausgangspunkt',
  pages: {
    label: 'Seiten',
    previous: 'Zurück',
    next: 'Weiter',
    position: 'Seite {page} von {pages}'
  },
  confirm: {
    type: 'Geben Sie zur Bestätigung {name} ein',
    mismatch: 'Das ist nicht derselbe Name'
  },
  offline: {
    title: 'Sie sind offline',
    text: 'Sobald Sie wieder verbunden sind, geht es hier von selbst weiter.',
    back: 'Sie sind wieder online'
  },
  session: {
    none: 'Öffnen Sie diese Seite aus Ihren Einstellungen',
    noneText: 'Hier gibt es keine Sitzung. Zu Ihrer Sicherheit endet sie, wenn die Seite neu geladen oder ihre Adresse kopiert wird. Gehen Sie zurück zu Ihren Einstellungen und öffnen Sie die Webhooks von dort.',
    ended: 'Ihre Sitzung ist abgelaufen',
    endedText: 'Ihre Eingaben gehen nicht verloren. Öffnen Sie die Webhooks erneut aus Ihren Einstellungen, um fortzufahren.',
    renewing: 'Ihre Sitzung wird verlängert',
    renewed: 'Ihre Sitzung wurde verlängert'
  }
}
