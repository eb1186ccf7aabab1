import type { PortalMessages } from '../types.js'

export const secret: PortalMessages['secret'] = {
  created: 'Ihr Webhook ist bereit',
  rotated: 'Ihr neues Secret',
  intro: 'Dieses Secret beweist, dass eine Anfrage von uns kommt. Es wird jetzt angezeigt und danach nie wieder.',
  label: 'Secret zum Signieren',
  store: 'Bewahren Sie es bei den Secrets Ihrer Anwendung auf, zum Beispiel in der Umgebungsvariablen WEBHOOK_SECRET. Schreiben Sie es nie in Code.',
  bothUntil: 'Bis {time} sind Anfragen auch mit dem alten Secret signiert. Stellen Sie vorher auf das neue um.',
  verify: {
    title: 'Prüfen Sie jede Anfrage',
    text: 'Prüfen Sie den Inhalt so, wie er ankam, nicht gelesen und neu geschrieben. Antworten Sie sofort mit 204 und arbeiten Sie später.',
    languages: 'Sprache',
    code: 'Code in {language}'
  },
  stored: 'Ich habe es gespeichert',
  leave: {
    title: 'Haben Sie das Secret gespeichert?',
    text: 'Es wird nicht wieder angezeigt. Wenn Sie es verlieren, müssen Sie es erneuern.',
    stay: 'Bleiben',
    leave: 'Verlassen'
  }
}
