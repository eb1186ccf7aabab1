import type { PortalMessages } from './types.js'

/** All texts of the portal in Dutch. */
export const nl: PortalMessages = {
  shell: {
    title: 'Webhooks',
    back: 'Terug',
    cancel: 'Annuleren',
    close: 'Sluiten',
    copy: 'Kopiëren',
    copied: 'Gekopieerd',
    copyByHand: 'Druk op Ctrl+C of ⌘C om te kopiëren',
    loading: 'Laden',
    working: 'Bezig',
    retry: 'Opnieuw proberen',
    required: 'Verplicht',
    readOnly: 'Je kunt hier alles bekijken, maar niets wijzigen.',
    returnTo: 'Terug naar waar je vandaan kwam',
    pages: { label: 'Pagina’s', previous: 'Vorige', next: 'Volgende', position: 'Pagina {page} van {pages}' },
    confirm: { type: 'Typ {name} om te bevestigen', mismatch: 'De naam komt niet overeen' },
    offline: { title: 'Je bent offline', text: 'Deze pagina gaat automatisch verder zodra je weer online bent.' },
    switch: {
      title: 'Overschakelen naar {name}?',
      text: 'Een link probeert hier de webhooks van een ander account te openen. Schakel alleen over als je de link vertrouwt. Niet-opgeslagen wijzigingen gaan verloren.',
      accept: 'Overschakelen',
      decline: 'Blijven'
    },
    session: {
      none: 'Open deze pagina via je instellingen',
      noneText:
        'Er is hier geen sessie. Voor je veiligheid eindigt een sessie wanneer je de pagina verlaat of herlaadt, en gekopieerde links bevatten haar niet. Ga terug naar je instellingen en open de webhooks van daaruit.',
      silent: 'Nog geen sessie',
      silentText: 'De pagina rond deze pagina reageerde niet. Misschien moet je daar opnieuw inloggen.',
      ended: 'Je sessie is beëindigd',
      endedText: 'Open de webhooks opnieuw via je instellingen om verder te gaan.'
    }
  },
  problem: {
    requestId: 'Verzoek-ID',
    retryIn: {
      one: 'Je kunt het over {count} seconde opnieuw proberen.',
      other: 'Je kunt het over {count} seconden opnieuw proberen.'
    },
    bad_request: {
      title: 'Sommige gegevens zijn ongeldig',
      text: 'Controleer wat je hebt ingevuld en probeer het opnieuw.'
    },
    unauthorized: { title: 'Je sessie is niet meer geldig', text: 'Open de webhooks opnieuw via je instellingen.' },
    forbidden: {
      title: 'Je hebt geen toestemming',
      text: 'Je sessie staat dit niet toe. Vraag het een beheerder van je account.'
    },
    not_found: { title: 'Niet gevonden', text: 'Het is misschien verwijderd. Ga terug naar de lijst.' },
    conflict: {
      title: 'Iemand anders heeft dit gewijzigd',
      text: 'Laad het opnieuw en breng je wijzigingen nogmaals aan.'
    },
    rate_limited: { title: 'Te veel verzoeken', text: 'Wacht even en probeer het opnieuw.' },
    unavailable: {
      title: 'De dienst is niet beschikbaar',
      text: 'Dit gaat meestal snel voorbij. Probeer het zo opnieuw.'
    },
    internal_error: {
      title: 'Er ging bij ons iets mis',
      text: 'Probeer het opnieuw. Blijft het gebeuren, stuur dan de verzoek-ID naar support.'
    },
    network: { title: 'De dienst is niet bereikbaar', text: 'Controleer je verbinding en probeer het opnieuw.' },
    timeout: {
      title: 'De dienst reageerde niet op tijd',
      text: 'Het is misschien toch gelukt. Controleer dat voordat je het opnieuw probeert.'
    }
  },
  endpoints: {
    intro: 'We sturen een ondertekend verzoek naar je endpoints zodra er iets gebeurt.',
    add: 'Webhook toevoegen',
    list: 'Je webhooks',
    empty: {
      title: 'Nog geen webhooks',
      text: 'Vul de URL van een endpoint in en kies welke events het moet ontvangen. Je krijgt een secret om elk verzoek te verifiëren.',
      readOnly: 'Niemand heeft er nog een toegevoegd. Vraag het iemand die instellingen mag wijzigen.'
    },
    events: { one: '{count} eventtype', other: '{count} eventtypen' },
    health: {
      active: 'Actief',
      failing: 'Mislukt',
      paused: 'Gepauzeerd',
      disabled: 'Uitgeschakeld',
      held: 'Stilgelegd',
      since: 'Sinds {time}',
      givenUp: { one: '{count} event niet bezorgd', other: '{count} events niet bezorgd' },
      inactive: 'Gepauzeerd door je team',
      gone: 'Het endpoint gaf 410 Gone terug',
      failedTooLong: 'Het endpoint mislukte te lang'
    }
  },
  form: {
    create: {
      title: 'Webhook toevoegen',
      intro: 'Geef aan waar we verzoeken naartoe sturen en voor welke events.',
      submit: 'Webhook maken'
    },
    edit: { title: 'Webhook bewerken', submit: 'Wijzigingen opslaan', saved: '{name} is opgeslagen' },
    name: { label: 'Naam', hint: 'Alleen zichtbaar voor je team.', example: 'CRM-synchronisatie' },
    url: {
      label: 'URL van het endpoint',
      hint: 'Een openbaar https-adres dat POST accepteert.',
      closed: 'Alleen wie de inhoud van bezorgingen mag zien, kan deze wijzigen.'
    },
    events: {
      label: 'Events',
      hint: 'Voor elk van deze events sturen we een verzoek.',
      search: 'Events zoeken',
      chosen: '{count} van {total} geselecteerd',
      all: 'Alle van {group}',
      found: { one: '{count} event gevonden', other: '{count} events gevonden' },
      nothing: 'Geen overeenkomende events',
      example: 'Voorbeeld',
      exampleOf: 'Voorbeeld van {name}',
      gone: 'Niet meer beschikbaar: verwijder het',
      deprecated: 'Verouderd sinds {since}.',
      deprecatedUntil: 'Verouderd: verdwijnt op {sunset}.',
      deprecatedLink: 'Wat je in plaats daarvan gebruikt'
    },
    filters: {
      label: 'Filters',
      hint: 'Optioneel: stuur alleen events waarvan de gegevens aan elk filter voldoen. Scheid waarden met komma’s: een daarvan moet overeenkomen. Zet tekst met een komma of die op een getal lijkt tussen rechte aanhalingstekens: "7".',
      fieldOf: 'Veld van filter {nth}',
      valuesOf: 'Waarden van filter {nth}',
      values: 'Waarden',
      remove: 'Verwijderen',
      removeOf: 'Filter {nth} verwijderen',
      add: 'Filter toevoegen',
      types: {
        number: 'Getal: {values}',
        string: 'Tekst: {values}',
        boolean: 'Waar of onwaar: {values}',
        null: 'Leeg of afwezig'
      },
      matches: {
        one: '{matching} van {count} recent event voldoet aan de filters',
        other: '{matching} van de laatste {count} events voldoen aan de filters'
      },
      noEvents: 'Er zijn geen recente events van deze typen om mee te vergelijken'
    },
    headers: {
      label: 'Headers',
      hint: 'Optioneel: headers die een gateway voor je endpoint nodig heeft.',
      kept: 'Elk verzoek heeft {names}. Waarden worden niet getoond.',
      replace: 'Headers vervangen',
      nameOf: 'Naam van header {nth}',
      valueOf: 'Waarde van header {nth}',
      value: 'Waarde',
      remove: 'Verwijderen',
      removeOf: 'Header {nth} verwijderen',
      add: 'Header toevoegen'
    },
    faults: {
      nameBlank: 'Vul een naam in, bijvoorbeeld CRM-synchronisatie',
      urlBlank: 'Vul de URL van je endpoint in',
      urlInvalid: 'Vul de volledige URL in, bijvoorbeeld https://hooks.example.com/recruiting',
      urlParts: 'Verwijder de gebruikersnaam, het wachtwoord en alles vanaf #',
      urlHttps: 'Gebruik een URL die begint met https://',
      urlPublic: 'Gebruik een openbare hostnaam. Adressen binnen je netwerk kunnen we niet bereiken.',
      eventsNone: 'Kies minstens één event',
      eventsGone: 'Verwijder de events die niet meer beschikbaar zijn',
      headersIncomplete: 'Vul de naam en de waarde van elke header in',
      headersName: 'Gebruik alleen letters, cijfers en koppeltekens in headernamen',
      filtersIncomplete: 'Vul het veld en de waarden van elk filter in',
      filtersPath: 'Begin elk veld met data. en gebruik hoogstens 5 namen, bijvoorbeeld data.job_id',
      filtersTwice: 'Gebruik elk veld maar één keer: het kan meer waarden hebben',
      filtersMany: 'Gebruik hoogstens 50 waarden in een filter'
    },
    refused: {
      title: 'De dienst heeft dit geweigerd',
      text: 'Controleer of het endpoint een openbaar https-adres is en of je account het maximum aantal webhooks niet heeft bereikt.'
    },
    restored: { title: 'Je niet-opgeslagen wijzigingen zijn terug', discard: 'Verwijderen' },
    leave: {
      title: 'Verlaten zonder op te slaan?',
      text: 'Wat je hebt ingevuld gaat verloren.',
      stay: 'Blijven',
      leave: 'Verlaten'
    }
  },
  secret: {
    created: 'Je webhook is klaar',
    rotated: 'Je nieuwe secret',
    intro: 'Dit secret bewijst dat een verzoek van ons komt. Het wordt maar één keer getoond.',
    label: 'Signing secret',
    store:
      'Bewaar het waar je applicatie haar secrets bewaart, bijvoorbeeld in de omgevingsvariabele WEBHOOK_SECRET. Zet het nooit in code.',
    bothUntil: 'Tot {time} worden verzoeken ook met het oude secret ondertekend. Zet het nieuwe voor die tijd in.',
    verify: {
      title: 'Verifieer elk verzoek',
      text: 'Gebruik de onbewerkte body, niet een die opnieuw is geserialiseerd. Reageer meteen met 204 en doe het werk later.',
      languages: 'Taal',
      code: 'Code in {language}'
    },
    stored: 'Ik heb het opgeslagen',
    leave: {
      title: 'Heb je het secret opgeslagen?',
      text: 'Het wordt niet nog eens getoond. Raak je het kwijt, dan moet je het vernieuwen.',
      stay: 'Blijven',
      leave: 'Verlaten'
    }
  },
  endpoint: {
    title: 'Webhook',
    edit: 'Bewerken',
    details: {
      title: 'Details',
      url: 'URL van het endpoint',
      events: 'Events',
      created: 'Gemaakt',
      updated: 'Gewijzigd',
      sourceIps: 'Meldingen komen van',
      sourceIpsHint: 'Als een firewall je endpoint beschermt, sta deze adressen dan toe.'
    },
    health: {
      failing: {
        title: 'Je endpoint mislukt sinds {time}',
        text: 'We proberen elk event een paar dagen opnieuw. Komt er te lang niets aan, dan schakelen we de webhook uit. Stuur een test om te zien wat er mis is.'
      },
      waiting: {
        title: 'Bezorgingen wachten tot {time}',
        text: 'Je endpoint vroeg ons langzamer te sturen of reageerde niet. Er gaat niets verloren.'
      },
      held: {
        title: 'Er wordt nu niets verstuurd',
        text: 'We hebben alle meldingen van deze installatie stilgelegd. Events worden vastgelegd. Het ligt niet aan je endpoint.'
      },
      gone: {
        title: 'Uitgeschakeld: je endpoint gaf 410 Gone terug',
        text: 'Dat betekent dat het adres niet meer bestaat. Corrigeer de URL als die is gewijzigd, schakel de webhook weer in en verstuur de gemiste events opnieuw.'
      },
      tooLong: {
        title: 'Uitgeschakeld: je endpoint mislukte te lang',
        text: 'Stuur een test en los op wat die laat zien. Schakel de webhook daarna weer in en verstuur de gemiste events opnieuw.'
      },
      inactive: {
        title: 'Gepauzeerd door je team',
        text: 'Events worden vastgelegd, maar niet verstuurd. Hervat de webhook en verstuur de gemiste events opnieuw.'
      }
    },
    activity: {
      title: 'Laatste 24 uur',
      share: '{percent} bezorgd',
      counts: '{delivered} bezorgd, {failed} opgegeven, {pending} wachtend',
      none: 'Er is niets bezorgd of opgegeven.',
      latest: 'Van de laatste {count} bezorgingen.',
      chart: 'Grafiek van de bezorgingen per uur',
      hour: '{time}: {delivered} bezorgd, {failed} opgegeven'
    },
    actions: {
      title: 'Beheren',
      pause: 'Pauzeren',
      pauseText: 'Events worden vastgelegd, maar pas verstuurd als je hervat. Dan kun je ze opnieuw versturen.',
      pauseTitle: '{name} pauzeren?',
      paused: '{name} is gepauzeerd',
      resume: 'Hervatten',
      resumed: '{name} is weer actief',
      enable: 'Weer inschakelen',
      rotate: 'Secret vernieuwen',
      rotateText: 'Je krijgt een nieuw secret, bijvoorbeeld als het oude mogelijk is uitgelekt.',
      delete: 'Verwijderen',
      deleteText: 'Stopt alle bezorgingen. Dit kan niet ongedaan worden gemaakt.',
      deleteTitle: '{name} verwijderen?',
      deleteAction: 'Webhook verwijderen',
      deleted: '{name} is verwijderd'
    },
    rotate: {
      text: 'Zolang het oude secret geldig is, wordt elk verzoek met beide ondertekend. Zo zet je het nieuwe in zonder een verzoek te missen.',
      grace: 'Hoe lang het oude secret geldig blijft',
      none: 'Niet',
      noneText: 'Je endpoint weigert verzoeken tot het het nieuwe heeft.',
      hour: '1 uur',
      day: '24 uur',
      week: '7 dagen',
      countdown: 'Het oude secret is nog {time} geldig',
      ended: 'Het oude secret is niet meer geldig.'
    }
  },
  test: {
    action: 'Test versturen',
    title: 'Test versturen',
    text: 'We sturen nu één verzoek, zonder nieuwe pogingen. Het bevat "test": true en voorbeeldgegevens. Een mislukte test telt niet mee voor je endpoint.',
    eventType: 'Eventtype',
    send: 'Test versturen',
    again: 'Opnieuw versturen',
    waiting: 'Wachten op je endpoint, hooguit 10 seconden',
    delivered: 'Bezorgd: je endpoint gaf {status} terug in {duration}',
    answered: 'Je endpoint gaf {status} terug na {duration}.',
    unanswered: 'Geen antwoord na {duration}.',
    errors: {
      timeout: {
        title: 'Je endpoint reageerde niet op tijd',
        text: 'Reageer eerst en doe het werk later. Zag je server geen verzoek, zoek dan een firewall die het tegenhoudt.'
      },
      connection: {
        title: 'We konden geen verbinding maken',
        text: 'Controleer de hostnaam en poort in de URL, en of je server draait. De log toont of het verzoek is aangekomen.'
      },
      tls: {
        title: 'De beveiligde verbinding is mislukt',
        text: 'Controleer of het certificaat niet is verlopen en bij de hostnaam hoort, of je server de hele keten stuurt en of hij TLS 1.2 of nieuwer toestaat.'
      },
      blocked: {
        title: 'Het adres is niet openbaar',
        text: 'De hostnaam leidt naar een adres dat we niet mogen aanroepen. Gebruik een openbaar adres.'
      },
      held: {
        title: 'Er wordt nu niets verstuurd',
        text: 'We hebben alle meldingen van deze installatie stilgelegd, dus er is geen verzoek gedaan. Het ligt niet aan je endpoint.'
      },
      http_status: {
        title: 'Je endpoint heeft het verzoek geweigerd',
        text: 'Alleen 200 tot 299 telt als bezorgd. Zoek dit verzoek in de log van je server.'
      }
    },
    statuses: {
      redirect: 'We volgen geen omleidingen: gebruik het uiteindelijke adres.',
      credentials: 'Iets voor je endpoint vraagt om inloggegevens, of je code heeft de handtekening geweigerd.',
      notFound: 'Er is niets op dit pad: controleer de URL.',
      method: 'Dit pad accepteert geen POST: controleer de URL.',
      gone: 'Bij een event schakelt dit antwoord de webhook uit.',
      busy: 'Je endpoint vraagt ons langzamer te sturen.',
      server: 'Een fout in je code of ervoor. Bekijk de log daar.'
    }
  },
  log: {
    title: 'Bezorgingen',
    total: { one: '{count} bezorging', other: '{count} bezorgingen' },
    list: 'Bezorgingen, nieuwste eerst',
    keys: 'Met Page Down en Page Up ga je van bezorging naar bezorging. Ctrl+Home gaat naar de filters, Ctrl+End verlaat de lijst.',
    end: 'Einde van de bezorgingen',
    more: 'Meer bezorgingen worden geladen terwijl je scrolt',
    filter: {
      label: 'Bezorgingen filteren',
      status: 'Status',
      anyStatus: 'Alle',
      eventType: 'Eventtype',
      anyType: 'Alle',
      eventId: 'Event-ID',
      clear: 'Filters wissen'
    },
    empty: {
      title: 'Nog geen bezorgingen',
      text: 'Events verschijnen hier zodra ze plaatsvinden. Stuur een test om je endpoint nu te controleren. Tests staan niet in deze lijst.'
    },
    noMatch: {
      title: 'Geen overeenkomende bezorgingen',
      text: 'Er is niets verstuurd met deze status, dit eventtype en deze event-ID.'
    },
    newer: { one: '{count} nieuwe bezorging', other: '{count} nieuwe bezorgingen' },
    changed: 'Laatste wijzigingen tonen',
    status: {
      pending: 'Wacht',
      delivered: 'Bezorgd',
      failed: 'Opgegeven',
      skipped: 'Overgeslagen',
      cancelled: 'Geannuleerd'
    },
    attempts: { one: '{count} poging', other: '{count} pogingen' },
    answer: {
      timeout: 'Time-out',
      connection: 'Verbinding mislukt',
      tls: 'Beveiligde verbinding mislukt',
      blocked: 'Adres niet toegestaan',
      http_status: 'Antwoord {status}',
      none: 'Nog niet verstuurd',
      never: 'Niet verstuurd'
    },
    next: 'Volgende poging {when}',
    due: 'Volgende poging nu'
  },
  delivery: {
    title: 'Bezorging',
    back: 'Terug naar de webhook',
    eventId: 'Event-ID',
    eventType: 'Eventtype',
    created: 'Vastgelegd',
    deliveredAt: 'Bezorgd',
    next: 'Volgende poging',
    due: 'Nu',
    outcome: {
      delivered: { one: 'Bij de eerste poging bezorgd.', other: 'Na {count} pogingen bezorgd.' },
      failed: {
        one: 'Na {count} poging opgegeven. We proberen het niet automatisch opnieuw.',
        other: 'Na {count} pogingen opgegeven. We proberen het niet automatisch opnieuw.'
      },
      first: 'Wordt zo verstuurd.',
      pending: {
        one: '{count} poging is mislukt. We proberen het automatisch opnieuw.',
        other: '{count} pogingen zijn mislukt. We proberen het automatisch opnieuw.'
      },
      skipped: 'De webhook was niet actief, dus er is niets verstuurd.',
      cancelled: 'Wordt niet meer verstuurd, omdat de gegevens van het event zijn gewist.'
    },
    attempts: {
      title: 'Pogingen',
      none: 'Er is nog niets verstuurd.',
      number: 'Poging {number}',
      duration: 'Duur: {duration}',
      excerpt: 'Begin van het antwoord'
    },
    request: {
      title: 'Verzoek',
      label: 'Headers van het verzoek',
      timestamp: 'bij elke poging nieuw',
      signature: 'bij elke poging nieuw',
      hidden: 'niet getoond',
      note: 'De opdracht verstuurt dit verzoek opnieuw, ondertekend met het secret in je omgevingsvariabele WEBHOOK_SECRET. Accepteert je endpoint dat wel maar onze verzoeken niet, dan heeft het een ander secret dan deze webhook.',
      curl: 'Kopiëren als curl'
    },
    body: {
      title: 'Body',
      label: 'Body van het verzoek',
      note: 'Ingesprongen om te lezen. Je kopieert de exacte body.',
      hidden: 'Je sessie heeft geen toegang tot body’s en antwoorden.',
      erased: {
        title: 'De gegevens van dit event zijn gewist',
        text: 'Iemand heeft gevraagd om zijn gegevens te verwijderen. Alleen dit is over, en alleen dit zou worden verstuurd.'
      }
    },
    retry: {
      again: 'Opnieuw versturen',
      now: 'Nu proberen',
      againSent: 'Opnieuw verstuurd als nieuwe bezorging',
      nowSent: 'Er is een poging gestart',
      open: 'De nieuwe bezorging openen',
      inactive: { title: 'De webhook is niet actief', text: 'Je kunt opnieuw versturen zodra de webhook actief is.' },
      toWebhook: 'Naar de webhook'
    }
  },
  replay: {
    open: 'Events opnieuw versturen',
    title: 'Events opnieuw versturen',
    intro: 'Verstuurt eerdere events opnieuw, met dezelfde ID’s.',
    range: 'Periode',
    ranges: { hour: 'Laatste uur', day: 'Laatste 24 uur', week: 'Laatste 7 dagen', own: 'Aangepaste periode' },
    since: 'Van',
    until: 'Tot',
    untilNow: 'Indien leeg: tot nu',
    include: 'Welke events',
    undelivered: 'Niet bezorgd',
    undeliveredHint: 'Opgegeven of overgeslagen',
    all: 'Alle',
    allHint: 'Ook bezorgde events: je endpoint ontvangt ze twee keer',
    types: 'Eventtypen',
    typesHint: 'Niets geselecteerd: alles wat de webhook ontvangt',
    invalid: { since: 'Vul een datum en tijd in', order: 'Moet voor het einde liggen' },
    counting: 'Events tellen',
    matches: { one: '{count} event wordt verstuurd', other: '{count} events worden verstuurd' },
    none: 'Er is in deze periode niets te versturen. Wachtende events worden sowieso verstuurd.',
    truncated: 'Er zijn er meer. De oudste {count} worden nu verstuurd.',
    againUndelivered: 'Herhaal dit daarna voor de rest.',
    againAll: 'Verstuur daarna de rest, met een later begin.',
    confirm: { one: '{count} event versturen', other: '{count} events versturen' },
    choose: 'Events versturen',
    queued: { one: '{count} event is onderweg', other: '{count} events zijn onderweg' },
    left: { one: '{count} bezorging wacht nog', other: '{count} bezorgingen wachten nog' },
    ended: { one: '{count} event is opnieuw verstuurd', other: '{count} events zijn opnieuw verstuurd' },
    failed: 'Er wachten geen bezorgingen meer, maar sommige zijn mislukt. De log toont waarom.',
    done: 'Er wachten geen bezorgingen meer. De log toont het resultaat van elke bezorging.',
    showLog: 'In de log tonen',
    inactive: {
      title: 'De webhook is niet actief',
      text: 'Activeer hem eerst. Daarna kun je de gemiste events opnieuw versturen.'
    }
  }
}
