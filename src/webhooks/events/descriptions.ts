/** The descriptions of the default events in the languages of the portal besides English. */
export const defaultDescriptions = {
  'application.created': {
    de: 'Eine Bewerbung wurde angelegt',
    es: 'Se ha creado una candidatura',
    fr: 'Une candidature a été créée',
    nl: 'Er is een sollicitatie aangemaakt',
    pt: 'Uma candidatura foi criada'
  },
  'application.updated': {
    de: 'Eine Bewerbung wurde geändert',
    es: 'Se ha modificado una candidatura',
    fr: 'Une candidature a été modifiée',
    nl: 'Er is een sollicitatie gewijzigd',
    pt: 'Uma candidatura foi alterada'
  },
  'application.stage_changed': {
    de: 'Eine Bewerbung hat die Phase gewechselt',
    es: 'Una candidatura ha cambiado de etapa',
    fr: 'Une candidature a changé d’étape',
    nl: 'Een sollicitatie is naar een andere fase gegaan',
    pt: 'Uma candidatura mudou de etapa'
  },
  'application.rejected': {
    de: 'Eine Bewerbung wurde abgelehnt',
    es: 'Se ha rechazado una candidatura',
    fr: 'Une candidature a été refusée',
    nl: 'Er is een sollicitatie afgewezen',
    pt: 'Uma candidatura foi recusada'
  },
  'application.hired': {
    de: 'Jemand wurde eingestellt',
    es: 'Se ha contratado a una persona',
    fr: 'Une personne a été embauchée',
    nl: 'Er is iemand aangenomen',
    pt: 'Uma pessoa foi contratada'
  },
  'application.withdrawn': {
    de: 'Eine Bewerbung wurde zurückgezogen',
    es: 'Se ha retirado una candidatura',
    fr: 'Une candidature a été retirée',
    nl: 'Er is een sollicitatie ingetrokken',
    pt: 'Uma candidatura foi retirada'
  },
  'application.deleted': {
    de: 'Eine Bewerbung wurde gelöscht',
    es: 'Se ha eliminado una candidatura',
    fr: 'Une candidature a été supprimée',
    nl: 'Er is een sollicitatie verwijderd',
    pt: 'Uma candidatura foi excluída'
  },
  'candidate.created': {
    de: 'Ein Kandidat wurde angelegt',
    es: 'Se ha creado un candidato',
    fr: 'Un candidat a été créé',
    nl: 'Er is een kandidaat aangemaakt',
    pt: 'Um candidato foi criado'
  },
  'candidate.updated': {
    de: 'Ein Kandidat wurde geändert',
    es: 'Se ha modificado un candidato',
    fr: 'Un candidat a été modifié',
    nl: 'Er is een kandidaat gewijzigd',
    pt: 'Um candidato foi alterado'
  },
  'candidate.deleted': {
    de: 'Ein Kandidat wurde gelöscht',
    es: 'Se ha eliminado un candidato',
    fr: 'Un candidat a été supprimé',
    nl: 'Er is een kandidaat verwijderd',
    pt: 'Um candidato foi excluído'
  },
  'candidate.anonymized': {
    de: 'Die personenbezogenen Daten eines Kandidaten wurden entfernt',
    es: 'Se han eliminado los datos personales de un candidato',
    fr: 'Les données personnelles d’un candidat ont été supprimées',
    nl: 'De persoonsgegevens van een kandidaat zijn verwijderd',
    pt: 'Os dados pessoais de um candidato foram removidos'
  },
  'candidate.merged': {
    de: 'Ein Kandidat wurde mit einem anderen zusammengeführt',
    es: 'Un candidato se ha combinado con otro',
    fr: 'Un candidat a été fusionné avec un autre',
    nl: 'Een kandidaat is samengevoegd met een andere',
    pt: 'Um candidato foi mesclado com outro'
  },
  'job.created': {
    de: 'Eine Stelle wurde angelegt',
    es: 'Se ha creado una oferta de empleo',
    fr: 'Une offre d’emploi a été créée',
    nl: 'Er is een vacature aangemaakt',
    pt: 'Uma vaga foi criada'
  },
  'job.updated': {
    de: 'Eine Stelle wurde geändert',
    es: 'Se ha modificado una oferta de empleo',
    fr: 'Une offre d’emploi a été modifiée',
    nl: 'Er is een vacature gewijzigd',
    pt: 'Uma vaga foi alterada'
  },
  'job.published': {
    de: 'Eine Stelle wurde veröffentlicht',
    es: 'Se ha publicado una oferta de empleo',
    fr: 'Une offre d’emploi a été publiée',
    nl: 'Er is een vacature gepubliceerd',
    pt: 'Uma vaga foi publicada'
  },
  'job.closed': {
    de: 'Eine Stelle wurde geschlossen',
    es: 'Se ha cerrado una oferta de empleo',
    fr: 'Une offre d’emploi a été clôturée',
    nl: 'Er is een vacature gesloten',
    pt: 'Uma vaga foi encerrada'
  },
  'job.archived': {
    de: 'Eine Stelle wurde archiviert',
    es: 'Se ha archivado una oferta de empleo',
    fr: 'Une offre d’emploi a été archivée',
    nl: 'Er is een vacature gearchiveerd',
    pt: 'Uma vaga foi arquivada'
  },
  'job.deleted': {
    de: 'Eine Stelle wurde gelöscht',
    es: 'Se ha eliminado una oferta de empleo',
    fr: 'Une offre d’emploi a été supprimée',
    nl: 'Er is een vacature verwijderd',
    pt: 'Uma vaga foi excluída'
  }
}
