import type { PortalMessages } from './types.js'

/** All texts of the portal in German. */
export const de: PortalMessages = {
  shell: {
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
    pages: { label: 'Seiten', previous: 'Zurück', next: 'Weiter', position: 'Seite {page} von {pages}' },
    confirm: { type: 'Geben Sie zur Bestätigung {name} ein', mismatch: 'Der Name stimmt nicht überein' },
    offline: { title: 'Sie sind offline', text: 'Sobald Sie wieder verbunden sind, geht es hier automatisch weiter.' },
    switch: {
      title: 'Zu {name} wechseln?',
      text: 'Ein Link will hier die Webhooks eines anderen Kontos öffnen. Wechseln Sie nur, wenn Sie ihm vertrauen. Nicht gespeicherte Änderungen gehen verloren.',
      accept: 'Wechseln',
      decline: 'Bleiben'
    },
    session: {
      none: 'Öffnen Sie diese Seite über Ihre Einstellungen',
      noneText:
        'Hier gibt es keine Sitzung. Zu Ihrer Sicherheit endet eine Sitzung, wenn Sie die Seite verlassen oder neu laden. Kopierte Links enthalten sie nicht. Gehen Sie zurück zu Ihren Einstellungen und öffnen Sie die Webhooks von dort.',
      silent: 'Noch keine Sitzung',
      silentText: 'Die Seite um diese herum hat nicht geantwortet. Vielleicht müssen Sie sich dort neu anmelden.',
      ended: 'Ihre Sitzung ist abgelaufen',
      endedText: 'Öffnen Sie die Webhooks erneut über Ihre Einstellungen, um fortzufahren.'
    }
  },
  problem: {
    requestId: 'Anfrage-ID',
    retryIn: {
      one: 'Sie können es in {count} Sekunde erneut versuchen.',
      other: 'Sie können es in {count} Sekunden erneut versuchen.'
    },
    bad_request: { title: 'Eine Angabe ist ungültig', text: 'Prüfen Sie Ihre Eingaben und versuchen Sie es erneut.' },
    unauthorized: {
      title: 'Ihre Sitzung ist nicht mehr gültig',
      text: 'Öffnen Sie die Webhooks erneut über Ihre Einstellungen.'
    },
    forbidden: {
      title: 'Keine Berechtigung',
      text: 'Ihre Sitzung erlaubt das nicht. Fragen Sie einen Administrator Ihres Kontos.'
    },
    not_found: {
      title: 'Nicht gefunden',
      text: 'Vielleicht wurde es inzwischen gelöscht. Gehen Sie zurück zur Liste.'
    },
    conflict: { title: 'Jemand anderes hat das inzwischen geändert', text: 'Laden Sie es neu, bevor Sie es ändern.' },
    rate_limited: { title: 'Zu viele Anfragen', text: 'Warten Sie einen Moment und versuchen Sie es dann erneut.' },
    unavailable: {
      title: 'Der Dienst ist gerade nicht verfügbar',
      text: 'Das dauert meist nicht lange. Versuchen Sie es gleich noch einmal.'
    },
    internal_error: {
      title: 'Bei uns ist ein Fehler aufgetreten',
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
  },
  endpoints: {
    intro: 'Sobald etwas geschieht, senden wir eine signierte Anfrage an Ihre Endpunkte.',
    add: 'Webhook hinzufügen',
    list: 'Ihre Webhooks',
    empty: {
      title: 'Noch keine Webhooks',
      text: 'Nennen Sie uns die Adresse eines Endpunkts und wählen Sie die Ereignisse, die er erhalten soll. Sie bekommen ein Secret, mit dem Sie jede Anfrage prüfen können.',
      readOnly: 'Bisher wurde keiner angelegt. Fragen Sie jemanden, der Einstellungen ändern darf.'
    },
    events: { one: '{count} Ereignistyp', other: '{count} Ereignistypen' },
    health: {
      active: 'Aktiv',
      failing: 'Fehlerhaft',
      paused: 'Pausiert',
      disabled: 'Deaktiviert',
      held: 'Angehalten',
      since: 'Seit {time}',
      givenUp: { one: '{count} Ereignis nicht zugestellt', other: '{count} Ereignisse nicht zugestellt' },
      inactive: 'Von Ihrem Team pausiert',
      gone: 'Der Endpunkt hat mit 410 Gone geantwortet',
      failedTooLong: 'Der Endpunkt war zu lange fehlerhaft'
    }
  },
  form: {
    create: {
      title: 'Webhook hinzufügen',
      intro: 'Wohin und zu welchen Ereignissen sollen wir Anfragen senden?',
      submit: 'Webhook anlegen'
    },
    edit: { title: 'Webhook bearbeiten', submit: 'Änderungen speichern', saved: '{name} wurde gespeichert' },
    name: { label: 'Name', hint: 'Nur für Ihr Team sichtbar.', example: 'CRM-Abgleich' },
    url: {
      label: 'URL des Endpunkts',
      hint: 'Eine öffentliche https-Adresse, die POST-Anfragen annimmt.',
      closed: 'Nur wer Inhalte von Zustellungen sehen darf, kann sie ändern.'
    },
    events: {
      label: 'Ereignisse',
      hint: 'Zu jedem dieser Ereignisse senden wir eine Anfrage.',
      search: 'Ereignisse suchen',
      chosen: '{count} von {total} ausgewählt',
      all: 'Alle von {group}',
      found: { one: '{count} Ereignis gefunden', other: '{count} Ereignisse gefunden' },
      nothing: 'Keine passenden Ereignisse',
      example: 'Beispiel',
      exampleOf: 'Beispiel für {name}',
      gone: 'Nicht mehr verfügbar: entfernen Sie es',
      deprecated: 'Veraltet seit {since}.',
      deprecatedUntil: 'Veraltet: entfällt ab {sunset}.',
      deprecatedLink: 'Was Sie stattdessen nutzen'
    },
    filters: {
      label: 'Filter',
      hint: 'Optional: nur Ereignisse senden, deren Daten zu jedem Filter passen. Trennen Sie Werte mit Kommas: Einer davon muss passen. Setzen Sie Text, der ein Komma enthält oder wie eine Zahl aussieht, in Anführungszeichen: "7".',
      fieldOf: 'Feld von Filter {nth}',
      valuesOf: 'Werte von Filter {nth}',
      values: 'Werte',
      remove: 'Entfernen',
      removeOf: 'Filter {nth} entfernen',
      add: 'Filter hinzufügen',
      types: {
        number: 'Zahl: {values}',
        string: 'Text: {values}',
        boolean: 'Wahr oder falsch: {values}',
        null: 'Leer oder nicht vorhanden'
      },
      matches: {
        one: 'Die Filter passen auf {matching} der letzten {count} Ereignisse',
        other: 'Die Filter passen auf {matching} der letzten {count} Ereignisse'
      },
      noEvents: 'Von diesen Typen gibt es keine aktuellen Ereignisse zum Vergleichen'
    },
    headers: {
      label: 'Header',
      hint: 'Optional: Header, die ein Gateway vor Ihrem Endpunkt verlangt.',
      kept: 'Jede Anfrage hat {names}. Werte werden nicht angezeigt.',
      replace: 'Header ersetzen',
      nameOf: 'Name von Header {nth}',
      valueOf: 'Wert von Header {nth}',
      value: 'Wert',
      remove: 'Entfernen',
      removeOf: 'Header {nth} entfernen',
      add: 'Header hinzufügen'
    },
    faults: {
      nameBlank: 'Geben Sie einen Namen ein, zum Beispiel CRM-Abgleich',
      urlBlank: 'Geben Sie die Adresse Ihres Endpunkts ein',
      urlInvalid: 'Geben Sie die vollständige Adresse ein, zum Beispiel https://hooks.example.com/recruiting',
      urlParts: 'Entfernen Sie Benutzername, Passwort und # mit allem danach',
      urlHttps: 'Verwenden Sie eine Adresse, die mit https:// beginnt',
      urlPublic: 'Verwenden Sie einen öffentlichen Hostnamen. Adressen in Ihrem Netz erreichen wir nicht.',
      eventsNone: 'Wählen Sie mindestens ein Ereignis',
      eventsGone: 'Entfernen Sie die Ereignisse, die nicht mehr verfügbar sind',
      headersIncomplete: 'Geben Sie zu jedem Header Name und Wert ein',
      headersName: 'Verwenden Sie in Header-Namen nur Buchstaben, Ziffern und Bindestriche',
      filtersIncomplete: 'Geben Sie zu jedem Filter Feld und Werte ein',
      filtersPath: 'Beginnen Sie jedes Feld mit data. und verwenden Sie höchstens 5 Namen, zum Beispiel data.job_id',
      filtersTwice: 'Verwenden Sie jedes Feld nur einmal: Es kann mehrere Werte haben',
      filtersMany: 'Verwenden Sie höchstens 50 Werte in einem Filter'
    },
    refused: {
      title: 'Der Dienst hat das abgelehnt',
      text: 'Prüfen Sie, ob der Endpunkt eine öffentliche https-Adresse ist und ob Ihr Konto schon die Höchstzahl an Webhooks hat.'
    },
    restored: { title: 'Ihre nicht gespeicherten Änderungen sind wieder da', discard: 'Verwerfen' },
    leave: {
      title: 'Ohne Speichern verlassen?',
      text: 'Ihre Eingaben gehen verloren.',
      stay: 'Bleiben',
      leave: 'Verlassen'
    }
  },
  secret: {
    created: 'Ihr Webhook ist bereit',
    rotated: 'Ihr neues Secret',
    intro: 'Dieses Secret beweist, dass eine Anfrage von uns kommt. Es wird nur dieses eine Mal angezeigt.',
    label: 'Secret zum Signieren',
    store:
      'Bewahren Sie es bei den Secrets Ihrer Anwendung auf, zum Beispiel in der Umgebungsvariablen WEBHOOK_SECRET. Schreiben Sie es nie in den Code.',
    bothUntil: 'Bis {time} sind Anfragen auch mit dem alten Secret signiert. Stellen Sie vorher auf das neue um.',
    verify: {
      title: 'Prüfen Sie jede Anfrage',
      text: 'Verwenden Sie den Inhalt so, wie er ankommt, nicht geparst und neu serialisiert. Antworten Sie sofort mit 204 und verarbeiten Sie ihn später.',
      languages: 'Sprache',
      code: 'Code in {language}'
    },
    stored: 'Ich habe es gespeichert',
    leave: {
      title: 'Haben Sie das Secret gespeichert?',
      text: 'Es wird nicht noch einmal angezeigt. Wenn Sie es verlieren, müssen Sie es erneuern.',
      stay: 'Bleiben',
      leave: 'Verlassen'
    }
  },
  endpoint: {
    title: 'Webhook',
    edit: 'Bearbeiten',
    details: {
      title: 'Details',
      url: 'URL des Endpunkts',
      events: 'Ereignisse',
      created: 'Angelegt',
      updated: 'Geändert',
      sourceIps: 'Benachrichtigungen kommen von',
      sourceIpsHint: 'Wenn eine Firewall Ihren Endpunkt schützt, lassen Sie diese Adressen zu.'
    },
    health: {
      failing: {
        title: 'Ihr Endpunkt ist seit {time} fehlerhaft',
        text: 'Wir versuchen jedes Ereignis einige Tage lang erneut. Kommt zu lange nichts an, deaktivieren wir den Webhook. Ein Test zeigt, was nicht stimmt.'
      },
      waiting: {
        title: 'Zustellungen ruhen bis {time}',
        text: 'Ihr Endpunkt bat um eine Pause oder antwortete nicht. Es geht nichts verloren.'
      },
      held: {
        title: 'Zurzeit wird nichts gesendet',
        text: 'Wir haben alle Zustellungen dieser Installation angehalten. Ereignisse werden aufgezeichnet. An Ihrem Endpunkt liegt es nicht.'
      },
      gone: {
        title: 'Deaktiviert: Ihr Endpunkt hat mit 410 Gone geantwortet',
        text: 'Das bedeutet, dass es die Adresse nicht mehr gibt. Berichtigen Sie die URL, falls sie sich geändert hat, aktivieren Sie den Webhook wieder und wiederholen Sie, was fehlt.'
      },
      tooLong: {
        title: 'Deaktiviert: Ihr Endpunkt war zu lange fehlerhaft',
        text: 'Senden Sie einen Test und beheben Sie, was er zeigt. Aktivieren Sie den Webhook dann wieder und wiederholen Sie, was fehlt.'
      },
      inactive: {
        title: 'Von Ihrem Team pausiert',
        text: 'Ereignisse werden aufgezeichnet, aber nicht gesendet. Setzen Sie den Webhook fort und wiederholen Sie, was fehlt.'
      }
    },
    activity: {
      title: 'Letzte 24 Stunden',
      share: '{percent} zugestellt',
      counts: '{delivered} zugestellt, {failed} aufgegeben, {pending} warten',
      none: 'Nichts wurde zugestellt oder aufgegeben.',
      latest: 'Von den neuesten {count} Zustellungen.',
      chart: 'Diagramm der Zustellungen nach Stunde',
      hour: '{time}: {delivered} zugestellt, {failed} aufgegeben'
    },
    actions: {
      title: 'Verwalten',
      pause: 'Pausieren',
      pauseText:
        'Ereignisse werden aufgezeichnet, aber nicht gesendet, bis Sie den Webhook fortsetzen. Dann können Sie sie wiederholen.',
      pauseTitle: '{name} pausieren?',
      paused: '{name} ist pausiert',
      resume: 'Fortsetzen',
      resumed: '{name} ist wieder aktiv',
      enable: 'Wieder aktivieren',
      rotate: 'Secret erneuern',
      rotateText: 'Sie bekommen ein neues, zum Beispiel wenn das alte bekannt geworden sein könnte.',
      delete: 'Löschen',
      deleteText: 'Beendet alle Zustellungen. Das lässt sich nicht rückgängig machen.',
      deleteTitle: '{name} löschen?',
      deleteAction: 'Webhook löschen',
      deleted: '{name} wurde gelöscht'
    },
    rotate: {
      text: 'Solange das alte Secret gilt, ist jede Anfrage mit beiden signiert. So können Sie umstellen, ohne eine Anfrage zu verlieren.',
      grace: 'Wie lange das alte Secret noch gilt',
      none: 'Gar nicht',
      noneText: 'Ihr Endpunkt lehnt Anfragen ab, bis er das neue hat.',
      hour: '1 Stunde',
      day: '24 Stunden',
      week: '7 Tage',
      countdown: 'Das alte Secret gilt noch {time}',
      ended: 'Das alte Secret gilt nicht mehr.'
    }
  },
  test: {
    action: 'Test senden',
    title: 'Test senden',
    text: 'Wir senden jetzt eine Anfrage, ohne Wiederholung. Sie enthält "test": true und Beispieldaten. Ein fehlgeschlagener Test zählt nicht als Fehler Ihres Endpunkts.',
    eventType: 'Ereignistyp',
    send: 'Test senden',
    again: 'Erneut senden',
    waiting: 'Warten auf Ihren Endpunkt, höchstens 10 Sekunden',
    delivered: 'Zugestellt: Ihr Endpunkt hat nach {duration} mit {status} geantwortet',
    answered: 'Ihr Endpunkt hat nach {duration} mit {status} geantwortet.',
    unanswered: 'Keine Antwort nach {duration}.',
    errors: {
      timeout: {
        title: 'Ihr Endpunkt hat nicht rechtzeitig geantwortet',
        text: 'Antworten Sie zuerst und verarbeiten Sie die Anfrage danach. Falls Ihr Server keine Anfrage sah: Vielleicht verwirft eine Firewall sie.'
      },
      connection: {
        title: 'Wir konnten keine Verbindung herstellen',
        text: 'Prüfen Sie Hostname und Port in der URL, und ob Ihr Server läuft. Sein Protokoll zeigt, ob die Anfrage ankam.'
      },
      tls: {
        title: 'Die sichere Verbindung ist gescheitert',
        text: 'Prüfen Sie, ob das Zertifikat noch gilt und zum Hostnamen passt, ob Ihr Server die ganze Kette sendet, und ob er TLS 1.2 oder neuer zulässt.'
      },
      blocked: {
        title: 'Die Adresse ist nicht öffentlich',
        text: 'Der Hostname verweist auf eine Adresse, die wir nicht aufrufen dürfen. Verwenden Sie eine öffentliche.'
      },
      held: {
        title: 'Zurzeit wird nichts gesendet',
        text: 'Wir haben alle Zustellungen dieser Installation angehalten, daher gab es keine Anfrage. An Ihrem Endpunkt liegt es nicht.'
      },
      http_status: {
        title: 'Ihr Endpunkt hat die Anfrage abgelehnt',
        text: 'Nur 200 bis 299 gilt als zugestellt. Suchen Sie diese Anfrage im Protokoll Ihres Servers.'
      }
    },
    statuses: {
      redirect: 'Weiterleitungen folgen wir nicht: Verwenden Sie die endgültige Adresse.',
      credentials: 'Etwas vor Ihrem Endpunkt verlangt Zugangsdaten, oder Ihr Code hat die Signatur abgelehnt.',
      notFound: 'Unter diesem Pfad gibt es nichts: Prüfen Sie die URL.',
      method: 'Dieser Pfad nimmt keine POST-Anfragen an: Prüfen Sie die URL.',
      gone: 'Bei Ereignissen deaktiviert diese Antwort den Webhook.',
      busy: 'Ihr Endpunkt bittet uns, langsamer zu senden.',
      server: 'Ein Fehler in Ihrem Code oder davor. Sehen Sie dort im Protokoll nach.'
    }
  },
  log: {
    title: 'Zustellungen',
    total: { one: '{count} Zustellung', other: '{count} Zustellungen' },
    list: 'Zustellungen, neueste zuerst',
    keys: 'Mit Bild ab und Bild auf wechseln Sie zwischen den Zustellungen. Strg+Pos1 führt zu den Filtern, Strg+Ende verlässt die Liste.',
    end: 'Ende der Zustellungen',
    more: 'Weitere Zustellungen werden beim Scrollen geladen',
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
      text: 'Ereignisse erscheinen hier, sobald sie geschehen. Um Ihren Endpunkt sofort zu prüfen, senden Sie einen Test. Tests stehen nicht in dieser Liste.'
    },
    noMatch: {
      title: 'Keine passenden Zustellungen',
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
      timeout: 'Zeitüberschreitung',
      connection: 'Verbindung fehlgeschlagen',
      tls: 'Sichere Verbindung fehlgeschlagen',
      blocked: 'Adresse nicht erlaubt',
      http_status: 'Antwort {status}',
      none: 'Noch nicht gesendet',
      never: 'Nicht gesendet'
    },
    next: 'Nächster Versuch {when}',
    due: 'Nächster Versuch fällig'
  },
  delivery: {
    title: 'Zustellung',
    back: 'Zurück zum Webhook',
    eventId: 'Ereignis-ID',
    eventType: 'Ereignistyp',
    created: 'Aufgezeichnet',
    deliveredAt: 'Zugestellt',
    next: 'Nächster Versuch',
    due: 'Jetzt fällig',
    outcome: {
      delivered: { one: 'Beim ersten Versuch zugestellt.', other: 'Nach {count} Versuchen zugestellt.' },
      failed: {
        one: 'Nach {count} Versuch aufgegeben. Es wird nicht automatisch erneut gesendet.',
        other: 'Nach {count} Versuchen aufgegeben. Es wird nicht automatisch erneut gesendet.'
      },
      first: 'Wird gleich gesendet.',
      pending: {
        one: '{count} Versuch ist fehlgeschlagen. Wir versuchen es automatisch erneut.',
        other: '{count} Versuche sind fehlgeschlagen. Wir versuchen es automatisch erneut.'
      },
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
    request: {
      title: 'Anfrage',
      label: 'Header der Anfrage',
      timestamp: 'bei jedem Versuch neu',
      signature: 'bei jedem Versuch neu',
      hidden: 'nicht angezeigt',
      note: 'Der Befehl sendet diese Anfrage noch einmal, signiert mit dem Secret in Ihrer Umgebungsvariablen WEBHOOK_SECRET. Nimmt Ihr Endpunkt das an, aber unsere Anfragen nicht, hat er ein anderes Secret als dieser Webhook.',
      curl: 'Als curl kopieren'
    },
    body: {
      title: 'Inhalt',
      label: 'Inhalt der Anfrage',
      note: 'Zum Lesen eingerückt. Kopiert wird genau das, was gesendet wird.',
      hidden: 'Ihre Sitzung hat keinen Zugriff auf Inhalte und Antworten.',
      erased: {
        title: 'Die Daten dieses Ereignisses wurden gelöscht',
        text: 'Jemand hat die Löschung der eigenen Daten verlangt. Nur das ist noch übrig, und nur das würde gesendet.'
      }
    },
    retry: {
      again: 'Erneut senden',
      now: 'Jetzt versuchen',
      againSent: 'Als neue Zustellung erneut gesendet',
      nowSent: 'Ein Versuch wurde gestartet',
      open: 'Neue Zustellung öffnen',
      inactive: {
        title: 'Der Webhook ist nicht aktiv',
        text: 'Erneut senden können Sie, sobald der Webhook aktiv ist.'
      },
      toWebhook: 'Zum Webhook'
    }
  },
  replay: {
    open: 'Ereignisse wiederholen',
    title: 'Ereignisse wiederholen',
    intro: 'Sendet vergangene Ereignisse noch einmal, mit denselben IDs.',
    range: 'Zeitraum',
    ranges: { hour: 'Letzte Stunde', day: 'Letzte 24 Stunden', week: 'Letzte 7 Tage', own: 'Eigener Zeitraum' },
    since: 'Von',
    until: 'Bis',
    untilNow: 'Wenn leer: bis jetzt',
    include: 'Welche Ereignisse',
    undelivered: 'Nicht zugestellte',
    undeliveredHint: 'Aufgegeben oder übersprungen',
    all: 'Alle',
    allHint: 'Auch schon zugestellte: Ihr Endpunkt erhält sie doppelt',
    types: 'Ereignistypen',
    typesHint: 'Ohne Auswahl: alle, die der Webhook erhält',
    invalid: { since: 'Geben Sie Datum und Uhrzeit ein', order: 'Muss vor dem Ende liegen' },
    counting: 'Ereignisse werden gezählt',
    matches: { one: '{count} Ereignis wird gesendet', other: '{count} Ereignisse werden gesendet' },
    none: 'In diesem Zeitraum gibt es nichts zu senden. Ereignisse, die noch warten, werden ohnehin gesendet.',
    truncated: 'Es gibt mehr. Jetzt werden die ältesten {count} gesendet.',
    againUndelivered: 'Wiederholen Sie danach noch einmal, um die übrigen zu senden.',
    againAll: 'Wiederholen Sie die übrigen danach, mit späterem Beginn.',
    confirm: { one: '{count} Ereignis senden', other: '{count} Ereignisse senden' },
    choose: 'Ereignisse senden',
    queued: { one: '{count} Ereignis ist unterwegs', other: '{count} Ereignisse sind unterwegs' },
    left: { one: '{count} Zustellung wartet noch', other: '{count} Zustellungen warten noch' },
    ended: {
      one: 'Die Wiederholung von {count} Ereignis ist beendet',
      other: 'Die Wiederholung von {count} Ereignissen ist beendet'
    },
    failed: 'Keine Zustellung wartet mehr, aber einige sind gescheitert. Die Liste zeigt, warum.',
    done: 'Keine Zustellung wartet mehr. Die Liste zeigt das Ergebnis jeder einzelnen.',
    showLog: 'In der Liste zeigen',
    inactive: {
      title: 'Der Webhook ist nicht aktiv',
      text: 'Aktivieren Sie ihn zuerst. Danach können Sie wiederholen, was er verpasst hat.'
    }
  }
}
