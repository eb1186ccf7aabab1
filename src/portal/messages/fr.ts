import type { PortalMessages } from './types.js'

/** All texts of the portal in French. */
export const fr: PortalMessages = {
  shell: {
    title: 'Webhooks',
    back: 'Retour',
    cancel: 'Annuler',
    close: 'Fermer',
    copy: 'Copier',
    copied: 'Copié',
    copyByHand: 'Appuyez sur Ctrl+C ou ⌘C pour copier',
    loading: 'Chargement',
    working: 'En cours',
    retry: 'Réessayer',
    required: 'Obligatoire',
    readOnly: 'Vous pouvez tout consulter ici, mais rien modifier.',
    returnTo: 'Revenir à la page précédente',
    pages: { label: 'Pages', previous: 'Précédent', next: 'Suivant', position: 'Page {page} sur {pages}' },
    confirm: { type: 'Saisissez {name} pour confirmer', mismatch: 'Le nom ne correspond pas' },
    offline: {
      title: 'Vous êtes hors ligne',
      text: 'Cette page reprend automatiquement dès que vous êtes de nouveau en ligne.'
    },
    switch: {
      title: 'Passer à {name} ?',
      text: 'Un lien tente d’ouvrir ici les webhooks d’un autre compte. Ne changez que si vous lui faites confiance. Les modifications non enregistrées seront perdues.',
      accept: 'Changer',
      decline: 'Rester'
    },
    session: {
      none: 'Ouvrez cette page depuis vos paramètres',
      noneText:
        'Il n’y a pas de session ici. Pour votre sécurité, une session prend fin quand vous quittez ou rechargez la page, et les liens copiés ne la contiennent pas. Revenez à vos paramètres et ouvrez les webhooks de là.',
      silent: 'Pas encore de session',
      silentText: 'La page qui entoure celle-ci n’a pas répondu. Vous devez peut-être vous y reconnecter.',
      ended: 'Votre session a pris fin',
      endedText: 'Rouvrez les webhooks depuis vos paramètres pour continuer.'
    }
  },
  problem: {
    requestId: 'ID de requête',
    retryIn: {
      one: 'Vous pourrez réessayer dans {count} seconde.',
      other: 'Vous pourrez réessayer dans {count} secondes.'
    },
    bad_request: {
      title: 'Certaines informations ne sont pas valides',
      text: 'Vérifiez votre saisie, puis réessayez.'
    },
    unauthorized: { title: 'Votre session n’est plus valide', text: 'Rouvrez les webhooks depuis vos paramètres.' },
    forbidden: {
      title: 'Vous n’avez pas l’autorisation',
      text: 'Votre session ne le permet pas. Adressez-vous à un administrateur de votre compte.'
    },
    not_found: { title: 'Introuvable', text: 'L’élément a peut-être été supprimé. Revenez à la liste.' },
    conflict: {
      title: 'Quelqu’un d’autre a modifié cet élément',
      text: 'Rechargez-le, puis refaites vos modifications.'
    },
    rate_limited: { title: 'Trop de requêtes', text: 'Patientez un instant, puis réessayez.' },
    unavailable: {
      title: 'Le service est indisponible',
      text: 'Cela ne dure en général pas. Réessayez dans un instant.'
    },
    internal_error: {
      title: 'Une erreur s’est produite de notre côté',
      text: 'Réessayez. Si cela se reproduit, envoyez l’ID de requête au support.'
    },
    network: { title: 'Le service est injoignable', text: 'Vérifiez votre connexion, puis réessayez.' },
    timeout: {
      title: 'Le service n’a pas répondu à temps',
      text: 'L’opération a peut-être réussi. Vérifiez avant de réessayer.'
    }
  },
  endpoints: {
    intro: 'Nous envoyons une requête signée à vos endpoints dès que quelque chose se produit.',
    add: 'Ajouter un webhook',
    list: 'Vos webhooks',
    empty: {
      title: 'Aucun webhook',
      text: 'Saisissez l’URL d’un endpoint et choisissez les événements qu’il doit recevoir. Vous obtenez une clé secrète pour vérifier chaque requête.',
      readOnly: 'Personne n’en a encore ajouté. Demandez à quelqu’un qui peut modifier les paramètres.'
    },
    events: { one: '{count} type d’événement', other: '{count} types d’événements' },
    health: {
      active: 'Actif',
      failing: 'En échec',
      paused: 'En pause',
      disabled: 'Désactivé',
      held: 'Suspendu',
      since: 'Depuis : {time}',
      givenUp: { one: '{count} événement non livré', other: '{count} événements non livrés' },
      inactive: 'Mis en pause par votre équipe',
      gone: 'L’endpoint a répondu 410 Gone',
      failedTooLong: 'L’endpoint a échoué trop longtemps'
    }
  },
  form: {
    create: {
      title: 'Ajouter un webhook',
      intro: 'Indiquez où envoyer les requêtes et pour quels événements.',
      submit: 'Créer le webhook'
    },
    edit: { title: 'Modifier le webhook', submit: 'Enregistrer', saved: '{name} a été enregistré' },
    name: { label: 'Nom', hint: 'Visible uniquement par votre équipe.', example: 'Synchro CRM' },
    url: {
      label: 'URL de l’endpoint',
      hint: 'Une adresse https publique qui accepte POST.',
      closed: 'Seules les personnes qui peuvent voir le contenu des livraisons peuvent la modifier.'
    },
    events: {
      label: 'Événements',
      hint: 'Nous envoyons une requête pour chacun de ces événements.',
      search: 'Rechercher des événements',
      chosen: '{count} sur {total} sélectionnés',
      all: 'Tous ceux de {group}',
      found: { one: '{count} événement trouvé', other: '{count} événements trouvés' },
      nothing: 'Aucun événement ne correspond',
      example: 'Exemple',
      exampleOf: 'Exemple de {name}',
      gone: 'N’est plus disponible : retirez-le',
      deprecated: 'Obsolète depuis le {since}.',
      deprecatedUntil: 'Obsolète : disparaîtra le {sunset}.',
      deprecatedLink: 'Par quoi le remplacer'
    },
    filters: {
      label: 'Filtres',
      hint: 'Facultatif : n’envoyer que les événements dont les données correspondent à chaque filtre. Séparez les valeurs par des virgules : l’une d’elles doit correspondre. Mettez entre guillemets droits un texte qui contient une virgule ou ressemble à un nombre : "7".',
      fieldOf: 'Champ du filtre {nth}',
      valuesOf: 'Valeurs du filtre {nth}',
      values: 'Valeurs',
      remove: 'Retirer',
      removeOf: 'Retirer le filtre {nth}',
      add: 'Ajouter un filtre',
      types: {
        number: 'Nombre : {values}',
        string: 'Texte : {values}',
        boolean: 'Vrai ou faux : {values}',
        null: 'Vide ou absent'
      },
      matches: {
        one: 'Les filtres correspondent à {matching} événement récent sur {count}',
        other: 'Les filtres correspondent à {matching} des {count} derniers événements'
      },
      noEvents: 'Il n’y a pas d’événement récent de ces types à comparer'
    },
    headers: {
      label: 'En-têtes',
      hint: 'Facultatif : les en-têtes qu’exige une passerelle devant votre endpoint.',
      kept: 'Chaque requête contient {names}. Les valeurs ne sont pas affichées.',
      replace: 'Remplacer les en-têtes',
      nameOf: 'Nom de l’en-tête {nth}',
      valueOf: 'Valeur de l’en-tête {nth}',
      value: 'Valeur',
      remove: 'Retirer',
      removeOf: 'Retirer l’en-tête {nth}',
      add: 'Ajouter un en-tête'
    },
    faults: {
      nameBlank: 'Saisissez un nom, par exemple Synchro CRM',
      urlBlank: 'Saisissez l’URL de votre endpoint',
      urlInvalid: 'Saisissez l’URL complète, par exemple https://hooks.example.com/recruiting',
      urlParts: 'Retirez le nom d’utilisateur, le mot de passe et tout ce qui suit #',
      urlHttps: 'Utilisez une URL qui commence par https://',
      urlPublic: 'Utilisez un nom d’hôte public. Nous ne pouvons pas joindre les adresses de votre réseau.',
      eventsNone: 'Choisissez au moins un événement',
      eventsGone: 'Retirez les événements qui ne sont plus disponibles',
      headersIncomplete: 'Saisissez le nom et la valeur de chaque en-tête',
      headersName: 'N’utilisez que des lettres, des chiffres et des traits d’union dans les noms d’en-têtes',
      filtersIncomplete: 'Saisissez le champ et les valeurs de chaque filtre',
      filtersPath: 'Commencez chaque champ par data. et utilisez au plus 5 noms, par exemple data.job_id',
      filtersTwice: 'N’utilisez chaque champ qu’une fois : il peut avoir plusieurs valeurs',
      filtersMany: 'Utilisez au plus 50 valeurs par filtre'
    },
    refused: {
      title: 'Le service a refusé',
      text: 'Vérifiez que l’endpoint est une adresse https publique et que votre compte n’a pas atteint sa limite de webhooks.'
    },
    restored: { title: 'Vos modifications non enregistrées sont de retour', discard: 'Les abandonner' },
    leave: { title: 'Quitter sans enregistrer ?', text: 'Votre saisie sera perdue.', stay: 'Rester', leave: 'Quitter' }
  },
  secret: {
    created: 'Votre webhook est prêt',
    rotated: 'Votre nouvelle clé secrète',
    intro: 'Cette clé prouve qu’une requête vient de nous. Elle n’est affichée qu’une seule fois.',
    label: 'Clé secrète de signature',
    store:
      'Conservez-la là où votre application garde ses secrets, par exemple dans la variable d’environnement WEBHOOK_SECRET. Ne la mettez jamais dans le code.',
    bothUntil: 'Jusqu’au {time}, les requêtes sont aussi signées avec l’ancienne clé. Déployez la nouvelle avant.',
    verify: {
      title: 'Vérifiez chaque requête',
      text: 'Utilisez le corps brut, pas un corps analysé puis resérialisé. Répondez tout de suite par 204 et faites le travail ensuite.',
      languages: 'Langage',
      code: 'Code en {language}'
    },
    stored: 'Je l’ai enregistrée',
    leave: {
      title: 'Avez-vous enregistré la clé ?',
      text: 'Elle ne sera plus affichée. Si vous la perdez, vous devrez la renouveler.',
      stay: 'Rester',
      leave: 'Quitter'
    }
  },
  endpoint: {
    title: 'Webhook',
    edit: 'Modifier',
    details: {
      title: 'Détails',
      url: 'URL de l’endpoint',
      events: 'Événements',
      created: 'Créé',
      updated: 'Modifié',
      sourceIps: 'Les notifications proviennent de',
      sourceIpsHint: 'Si un pare-feu protège votre endpoint, autorisez ces adresses.'
    },
    health: {
      failing: {
        title: 'Votre endpoint échoue depuis : {time}',
        text: 'Nous réessayons chaque événement pendant plusieurs jours. Si rien ne passe pendant trop longtemps, nous désactivons le webhook. Envoyez un test pour voir ce qui ne va pas.'
      },
      waiting: {
        title: 'Livraisons en attente jusqu’à : {time}',
        text: 'Votre endpoint nous a demandé de ralentir ou n’a pas répondu. Rien n’est perdu.'
      },
      held: {
        title: 'Rien n’est envoyé pour le moment',
        text: 'Nous avons arrêté toutes les notifications de cette installation. Les événements sont enregistrés. Votre endpoint n’est pas en cause.'
      },
      gone: {
        title: 'Désactivé : votre endpoint a répondu 410 Gone',
        text: 'Cela signifie que l’adresse n’existe plus. Corrigez l’URL si elle a changé, réactivez le webhook et renvoyez les événements manqués.'
      },
      tooLong: {
        title: 'Désactivé : votre endpoint a échoué trop longtemps',
        text: 'Envoyez un test et corrigez ce qu’il montre. Puis réactivez le webhook et renvoyez les événements manqués.'
      },
      inactive: {
        title: 'Mis en pause par votre équipe',
        text: 'Les événements sont enregistrés mais pas envoyés. Reprenez, puis renvoyez les événements manqués.'
      }
    },
    activity: {
      title: 'Dernières 24 heures',
      share: '{percent} livrés',
      counts: '{delivered} livrés, {failed} abandonnés, {pending} en attente',
      none: 'Rien n’a été livré ni abandonné.',
      latest: 'Sur les {count} dernières livraisons.',
      chart: 'Graphique des livraisons par heure',
      hour: '{time} : {delivered} livrés, {failed} abandonnés'
    },
    actions: {
      title: 'Gérer',
      pause: 'Mettre en pause',
      pauseText:
        'Les événements sont enregistrés mais pas envoyés jusqu’à la reprise. Vous pourrez alors les renvoyer.',
      pauseTitle: 'Mettre {name} en pause ?',
      paused: '{name} est en pause',
      resume: 'Reprendre',
      resumed: '{name} est de nouveau actif',
      enable: 'Réactiver',
      rotate: 'Renouveler la clé secrète',
      rotateText: 'Obtenez une nouvelle clé, par exemple si l’ancienne a pu être divulguée.',
      delete: 'Supprimer',
      deleteText: 'Arrête toutes les livraisons. Cette action est irréversible.',
      deleteTitle: 'Supprimer {name} ?',
      deleteAction: 'Supprimer le webhook',
      deleted: '{name} a été supprimé'
    },
    rotate: {
      text: 'Tant que l’ancienne clé est valide, chaque requête est signée avec les deux : vous pouvez déployer la nouvelle sans perdre de requête.',
      grace: 'Durée de validité de l’ancienne clé',
      none: 'Aucune',
      noneText: 'Votre endpoint refuse les requêtes tant qu’il n’a pas la nouvelle.',
      hour: '1 heure',
      day: '24 heures',
      week: '7 jours',
      countdown: 'L’ancienne clé est encore valide {time}',
      ended: 'L’ancienne clé n’est plus valide.'
    }
  },
  test: {
    action: 'Envoyer un test',
    title: 'Envoyer un test',
    text: 'Nous envoyons une requête maintenant, sans nouvelle tentative. Elle contient "test": true et des données d’exemple. Un test échoué ne compte pas contre votre endpoint.',
    eventType: 'Type d’événement',
    send: 'Envoyer le test',
    again: 'Renvoyer',
    waiting: 'En attente de votre endpoint, 10 secondes au plus',
    delivered: 'Livré : votre endpoint a répondu {status} en {duration}',
    answered: 'Votre endpoint a répondu {status} après {duration}.',
    unanswered: 'Pas de réponse après {duration}.',
    errors: {
      timeout: {
        title: 'Votre endpoint n’a pas répondu à temps',
        text: 'Répondez d’abord et faites le travail ensuite. Si votre serveur n’a vu aucune requête, cherchez un pare-feu qui la rejette.'
      },
      connection: {
        title: 'Connexion impossible',
        text: 'Vérifiez l’hôte et le port dans l’URL, et que votre serveur fonctionne. Son journal indique si la requête est arrivée.'
      },
      tls: {
        title: 'La connexion sécurisée a échoué',
        text: 'Vérifiez que le certificat n’a pas expiré et correspond à l’hôte, que votre serveur envoie toute la chaîne et qu’il accepte TLS 1.2 ou plus récent.'
      },
      blocked: {
        title: 'L’adresse n’est pas publique',
        text: 'Le nom d’hôte mène à une adresse que nous n’avons pas le droit d’appeler. Utilisez une adresse publique.'
      },
      held: {
        title: 'Rien n’est envoyé pour le moment',
        text: 'Nous avons arrêté toutes les notifications de cette installation, donc aucune requête n’est partie. Votre endpoint n’est pas en cause.'
      },
      http_status: {
        title: 'Votre endpoint a refusé la requête',
        text: 'Seuls 200 à 299 comptent comme livrés. Cherchez cette requête dans le journal de votre serveur.'
      }
    },
    statuses: {
      redirect: 'Nous ne suivons pas les redirections : utilisez l’adresse finale.',
      credentials:
        'Quelque chose devant votre endpoint exige une authentification, ou votre code a refusé la signature.',
      notFound: 'Il n’y a rien à ce chemin : vérifiez l’URL.',
      method: 'Ce chemin n’accepte pas POST : vérifiez l’URL.',
      gone: 'Pour un événement, cette réponse désactive le webhook.',
      busy: 'Votre endpoint nous demande de ralentir.',
      server: 'Une erreur dans votre code ou devant lui. Consultez le journal.'
    }
  },
  log: {
    title: 'Livraisons',
    total: { one: '{count} livraison', other: '{count} livraisons' },
    list: 'Livraisons, les plus récentes d’abord',
    keys: 'Page suivante et Page précédente passent d’une livraison à l’autre. Ctrl+Début mène aux filtres, Ctrl+Fin quitte la liste.',
    end: 'Fin des livraisons',
    more: 'D’autres livraisons se chargent au défilement',
    filter: {
      label: 'Filtrer les livraisons',
      status: 'Statut',
      anyStatus: 'Tous',
      eventType: 'Type d’événement',
      anyType: 'Tous',
      eventId: 'ID d’événement',
      clear: 'Effacer les filtres'
    },
    empty: {
      title: 'Aucune livraison',
      text: 'Les événements apparaissent ici dès qu’ils se produisent. Pour vérifier votre endpoint maintenant, envoyez un test. Les tests ne figurent pas ici.'
    },
    noMatch: {
      title: 'Aucune livraison ne correspond',
      text: 'Rien n’a été envoyé avec ce statut, ce type et cet ID d’événement.'
    },
    newer: { one: '{count} nouvelle livraison', other: '{count} nouvelles livraisons' },
    changed: 'Afficher les dernières modifications',
    status: { pending: 'En attente', delivered: 'Livré', failed: 'Abandonné', skipped: 'Ignoré', cancelled: 'Annulé' },
    attempts: { one: '{count} tentative', other: '{count} tentatives' },
    answer: {
      timeout: 'Délai dépassé',
      connection: 'Échec de la connexion',
      tls: 'Échec de la connexion sécurisée',
      blocked: 'Adresse non autorisée',
      http_status: 'Réponse {status}',
      none: 'Pas encore envoyé',
      never: 'Non envoyé'
    },
    next: 'Prochaine tentative {when}',
    due: 'Prochaine tentative imminente'
  },
  delivery: {
    title: 'Livraison',
    back: 'Retour au webhook',
    eventId: 'ID d’événement',
    eventType: 'Type d’événement',
    created: 'Enregistré',
    deliveredAt: 'Livré',
    next: 'Prochaine tentative',
    due: 'Maintenant',
    outcome: {
      delivered: { one: 'Livré à la première tentative.', other: 'Livré après {count} tentatives.' },
      failed: {
        one: 'Abandonné après {count} tentative, sans nouvel essai automatique.',
        other: 'Abandonné après {count} tentatives, sans nouvel essai automatique.'
      },
      first: 'L’envoi aura lieu dans un instant.',
      pending: {
        one: '{count} tentative a échoué. Nous réessaierons automatiquement.',
        other: '{count} tentatives ont échoué. Nous réessaierons automatiquement.'
      },
      skipped: 'Le webhook n’était pas actif, rien n’a donc été envoyé.',
      cancelled: 'Ne sera plus envoyé, car les données de l’événement ont été effacées.'
    },
    attempts: {
      title: 'Tentatives',
      none: 'Rien n’a encore été envoyé.',
      number: 'Tentative {number}',
      duration: 'Durée : {duration}',
      excerpt: 'Début de la réponse'
    },
    request: {
      title: 'Requête',
      label: 'En-têtes de la requête',
      timestamp: 'nouveau à chaque tentative',
      signature: 'nouvelle à chaque tentative',
      hidden: 'non affiché',
      note: 'La commande renvoie cette requête, signée avec la clé de votre variable d’environnement WEBHOOK_SECRET. Si votre endpoint l’accepte mais refuse les nôtres, sa clé n’est pas celle de ce webhook.',
      curl: 'Copier en curl'
    },
    body: {
      title: 'Corps',
      label: 'Corps de la requête',
      note: 'Mis en forme pour la lecture. La copie donne le corps exact.',
      hidden: 'Votre session n’a pas accès aux corps ni aux réponses.',
      erased: {
        title: 'Les données de cet événement ont été effacées',
        text: 'Une personne a demandé la suppression de ses données. Il ne reste que ceci, et seul ceci serait envoyé.'
      }
    },
    retry: {
      again: 'Renvoyer',
      now: 'Essayer maintenant',
      againSent: 'Renvoyé comme nouvelle livraison',
      nowSent: 'Une tentative a commencé',
      open: 'Ouvrir la nouvelle livraison',
      inactive: { title: 'Le webhook n’est pas actif', text: 'Vous pourrez renvoyer dès que le webhook sera actif.' },
      toWebhook: 'Aller au webhook'
    }
  },
  replay: {
    open: 'Renvoyer des événements',
    title: 'Renvoyer des événements',
    intro: 'Renvoie des événements passés, avec les mêmes ID.',
    range: 'Période',
    ranges: {
      hour: 'Dernière heure',
      day: 'Dernières 24 heures',
      week: '7 derniers jours',
      own: 'Période personnalisée'
    },
    since: 'Du',
    until: 'Au',
    untilNow: 'Si vide : jusqu’à maintenant',
    include: 'Quels événements',
    undelivered: 'Non livrés',
    undeliveredHint: 'Abandonnés ou ignorés',
    all: 'Tous',
    allHint: 'Y compris ceux déjà livrés : votre endpoint les reçoit deux fois',
    types: 'Types d’événements',
    typesHint: 'Sans sélection : tous ceux que reçoit le webhook',
    invalid: { since: 'Saisissez une date et une heure', order: 'Doit précéder la fin' },
    counting: 'Comptage des événements',
    matches: { one: '{count} événement sera envoyé', other: '{count} événements seront envoyés' },
    none: 'Il n’y a rien à envoyer pour cette période. Les événements en attente seront envoyés de toute façon.',
    truncated: 'Il y en a plus. Les {count} plus anciens seront envoyés maintenant.',
    againUndelivered: 'Une fois envoyés, recommencez pour le reste.',
    againAll: 'Recommencez ensuite pour le reste, avec un début plus tardif.',
    confirm: { one: 'Envoyer {count} événement', other: 'Envoyer {count} événements' },
    choose: 'Envoyer les événements',
    queued: { one: '{count} événement est en route', other: '{count} événements sont en route' },
    left: { one: '{count} livraison est encore en attente', other: '{count} livraisons sont encore en attente' },
    ended: { one: 'Renvoi de {count} événement terminé', other: 'Renvoi de {count} événements terminé' },
    failed: 'Aucune livraison n’est en attente, mais certaines ont échoué. Le journal indique pourquoi.',
    done: 'Aucune livraison n’est en attente. Le journal indique le résultat de chacune.',
    showLog: 'Afficher dans le journal',
    inactive: {
      title: 'Le webhook n’est pas actif',
      text: 'Activez-le d’abord. Vous pourrez ensuite renvoyer les événements manqués.'
    }
  }
}
