import type { PortalMessages } from '../types.js'

export const endpoint: PortalMessages['endpoint'] = {
  edit: 'Bearbeiten',
  details: {
    title: 'Einzelheiten',
    url: 'URL des Endpunkts',
    events: 'Ereignisse',
    created: 'Angelegt',
    updated: 'Geändert'
  },
  health: {
    failing: 'Ihr Endpunkt ist seit {time} fehlerhaft',
    failingText: 'Wir versuchen jedes Ereignis einige Tage lang erneut. Kommt zu lange nichts an, deaktivieren wir den Webhook. Ein Test zeigt, was nicht stimmt.',
    waiting: 'Wir warten bis {time}, bevor wir weiter senden',
    waitingText: 'Ihr Endpunkt bat um eine Pause oder antwortete nicht. Es geht nichts verloren.',
    gone: 'Deaktiviert: Ihr Endpunkt hat mit 410 Gone geantwortet',
    goneText: 'Das bedeutet, dass es die Adresse nicht mehr gibt. Berichtigen Sie die URL, falls sie sich geändert hat, aktivieren Sie den Webhook wieder und wiederholen Sie, was fehlt.',
    tooLong: 'Deaktiviert: Ihr Endpunkt war zu lange fehlerhaft',
    tooLongText: 'Senden Sie einen Test und beheben Sie, was er zeigt. Aktivieren Sie den Webhook dann wieder und wiederholen Sie, was fehlt.',
    inactive: 'Von Ihrem Team pausiert',
    inactiveText: 'Ereignisse werden aufgezeichnet und nicht gesendet. Setzen Sie fort und wiederholen Sie, was fehlt.'
  },
  actions: {
    title: 'Verwalten',
    pause: 'Pausieren',
    pauseText: 'Ereignisse werden aufgezeichnet und nicht gesendet, bis Sie fortsetzen. Dann können Sie sie wiederholen.',
    pauseTitle: '{name} pausieren?',
    paused: '{name} ist pausiert',
    resume: 'Fortsetzen',
    resumed: '{name} ist wieder aktiv',
    enable: 'Wieder aktivieren',
    rotate: 'Secret erneuern',
    rotateText: 'Sie bekommen ein neues, zum Beispiel wenn andere es kennen könnten.',
    delete: 'Löschen',
    deleteText: 'Beendet alle Zustellungen. Das lässt sich nicht rückgängig machen.',
    deleteTitle: '{name} löschen?',
    deleteAction: 'Webhook löschen',
    deleted: '{name} wurde gelöscht'
  },
  rotate: {
    text: 'Solange das alte Secret gilt, ist jede Anfrage mit beiden signiert. So stellen Sie um, ohne eine Anfrage zu verlieren.',
    grace: 'Wie lange das alte Secret noch gilt',
    none: 'Gar nicht',
    noneText: 'Ihr Endpunkt lehnt Anfragen ab, bis er das neue hat.',
    hour: '1 Stunde',
    day: '24 Stunden',
    week: '7 Tage',
    countdown: 'Das alte Secret gilt noch {time}',
    ended: 'Das alte Secret gilt nicht mehr.'
  }
}
