import type { PortalMessages } from './types.js'

/** All texts of the portal in Spanish. */
export const es: PortalMessages = {
  shell: {
    title: 'Webhooks',
    back: 'Atrás',
    cancel: 'Cancelar',
    close: 'Cerrar',
    copy: 'Copiar',
    copied: 'Copiado',
    copyByHand: 'Pulsa Ctrl+C o ⌘C para copiar',
    loading: 'Cargando',
    working: 'En curso',
    retry: 'Reintentar',
    required: 'Obligatorio',
    readOnly: 'Aquí puedes verlo todo, pero no cambiar nada.',
    returnTo: 'Volver a donde estabas',
    pages: { label: 'Páginas', previous: 'Anterior', next: 'Siguiente', position: 'Página {page} de {pages}' },
    confirm: { type: 'Escribe {name} para confirmar', mismatch: 'El nombre no coincide' },
    offline: {
      title: 'No tienes conexión',
      text: 'Esta página continúa automáticamente en cuanto vuelvas a tener conexión.'
    },
    switch: {
      title: '¿Cambiar a {name}?',
      text: 'Un enlace intenta abrir aquí los webhooks de otra cuenta. Cambia solo si confías en él. Se perderán los cambios sin guardar.',
      accept: 'Cambiar',
      decline: 'Quedarse'
    },
    session: {
      none: 'Abre esta página desde tu configuración',
      noneText:
        'Aquí no hay ninguna sesión. Por tu seguridad, la sesión termina cuando sales de la página o la recargas, y los enlaces copiados no la contienen. Vuelve a tu configuración y abre los webhooks desde allí.',
      silent: 'Todavía no hay sesión',
      silentText: 'La página que rodea a esta no ha respondido. Puede que tengas que volver a iniciar sesión allí.',
      ended: 'Tu sesión ha terminado',
      endedText: 'Vuelve a abrir los webhooks desde tu configuración para continuar.'
    }
  },
  problem: {
    requestId: 'ID de solicitud',
    retryIn: { one: 'Puedes reintentarlo en {count} segundo.', other: 'Puedes reintentarlo en {count} segundos.' },
    bad_request: { title: 'Algunos datos no son válidos', text: 'Revisa lo que has escrito y vuelve a intentarlo.' },
    unauthorized: { title: 'Tu sesión ya no es válida', text: 'Vuelve a abrir los webhooks desde tu configuración.' },
    forbidden: {
      title: 'No tienes permiso',
      text: 'Tu sesión no lo permite. Pregunta a un administrador de tu cuenta.'
    },
    not_found: { title: 'No encontrado', text: 'Puede que se haya eliminado. Vuelve a la lista.' },
    conflict: { title: 'Otra persona lo ha cambiado', text: 'Vuelve a cargarlo y repite tus cambios.' },
    rate_limited: { title: 'Demasiadas solicitudes', text: 'Espera un momento y vuelve a intentarlo.' },
    unavailable: {
      title: 'El servicio no está disponible',
      text: 'Suele pasar pronto. Vuelve a intentarlo en un momento.'
    },
    internal_error: {
      title: 'Algo ha fallado por nuestra parte',
      text: 'Vuelve a intentarlo. Si se repite, envía el ID de solicitud al servicio de asistencia.'
    },
    network: { title: 'No se puede acceder al servicio', text: 'Comprueba tu conexión y vuelve a intentarlo.' },
    timeout: {
      title: 'El servicio no respondió a tiempo',
      text: 'Puede que se haya completado. Compruébalo antes de reintentar.'
    }
  },
  endpoints: {
    intro: 'Enviamos una solicitud firmada a tus endpoints en cuanto ocurre algo.',
    add: 'Añadir webhook',
    list: 'Tus webhooks',
    empty: {
      title: 'Todavía no hay webhooks',
      text: 'Escribe la URL de un endpoint y elige los eventos que debe recibir. Obtendrás un secreto para verificar cada solicitud.',
      readOnly: 'Nadie ha añadido ninguno. Pídeselo a alguien que pueda cambiar la configuración.'
    },
    events: { one: '{count} tipo de evento', other: '{count} tipos de eventos' },
    health: {
      active: 'Activo',
      failing: 'Con errores',
      paused: 'En pausa',
      disabled: 'Desactivado',
      held: 'Detenido',
      since: 'Desde: {time}',
      givenUp: { one: '{count} evento sin entregar', other: '{count} eventos sin entregar' },
      inactive: 'Pausado por tu equipo',
      gone: 'El endpoint devolvió 410 Gone',
      failedTooLong: 'El endpoint falló durante demasiado tiempo'
    }
  },
  form: {
    create: {
      title: 'Añadir un webhook',
      intro: 'Indica adónde enviar las solicitudes y para qué eventos.',
      submit: 'Crear webhook'
    },
    edit: { title: 'Editar webhook', submit: 'Guardar cambios', saved: 'Se ha guardado {name}' },
    name: { label: 'Nombre', hint: 'Solo lo ve tu equipo.', example: 'Sincronización con CRM' },
    url: {
      label: 'URL del endpoint',
      hint: 'Una dirección https pública que acepte POST.',
      closed: 'Solo pueden cambiarla quienes pueden ver el contenido de las entregas.'
    },
    events: {
      label: 'Eventos',
      hint: 'Enviamos una solicitud por cada uno de estos eventos.',
      search: 'Buscar eventos',
      chosen: '{count} de {total} seleccionados',
      all: 'Todos los de {group}',
      found: { one: '{count} evento encontrado', other: '{count} eventos encontrados' },
      nothing: 'Ningún evento coincide',
      example: 'Ejemplo',
      exampleOf: 'Ejemplo de {name}',
      gone: 'Ya no está disponible: quítalo',
      deprecated: 'Obsoleto desde el {since}.',
      deprecatedUntil: 'Obsoleto: desaparece el {sunset}.',
      deprecatedLink: 'Qué usar en su lugar'
    },
    filters: {
      label: 'Filtros',
      hint: 'Opcional: enviar solo los eventos cuyos datos coincidan con todos los filtros. Separa los valores con comas: debe coincidir uno de ellos. Escribe entre comillas rectas el texto que contenga una coma o parezca un número: "7".',
      fieldOf: 'Campo del filtro {nth}',
      valuesOf: 'Valores del filtro {nth}',
      values: 'Valores',
      remove: 'Quitar',
      removeOf: 'Quitar el filtro {nth}',
      add: 'Añadir filtro',
      types: {
        number: 'Número: {values}',
        string: 'Texto: {values}',
        boolean: 'Verdadero o falso: {values}',
        null: 'Vacío o ausente'
      },
      matches: {
        one: 'Los filtros coinciden con {matching} de {count} evento reciente',
        other: 'Los filtros coinciden con {matching} de los últimos {count} eventos'
      },
      noEvents: 'No hay eventos recientes de estos tipos con los que comparar'
    },
    headers: {
      label: 'Encabezados',
      hint: 'Opcional: los encabezados que exige una pasarela delante de tu endpoint.',
      kept: 'Cada solicitud lleva {names}. Los valores no se muestran.',
      replace: 'Reemplazar encabezados',
      nameOf: 'Nombre del encabezado {nth}',
      valueOf: 'Valor del encabezado {nth}',
      value: 'Valor',
      remove: 'Quitar',
      removeOf: 'Quitar el encabezado {nth}',
      add: 'Añadir encabezado'
    },
    faults: {
      nameBlank: 'Escribe un nombre, por ejemplo Sincronización con CRM',
      urlBlank: 'Escribe la URL de tu endpoint',
      urlInvalid: 'Escribe la URL completa, por ejemplo https://hooks.example.com/recruiting',
      urlParts: 'Quita el usuario, la contraseña y todo lo que siga a #',
      urlHttps: 'Usa una URL que empiece por https://',
      urlPublic: 'Usa un nombre de host público. No podemos acceder a direcciones de tu red.',
      eventsNone: 'Elige al menos un evento',
      eventsGone: 'Quita los eventos que ya no están disponibles',
      headersIncomplete: 'Escribe el nombre y el valor de cada encabezado',
      headersName: 'Usa solo letras, cifras y guiones en los nombres de encabezados',
      filtersIncomplete: 'Escribe el campo y los valores de cada filtro',
      filtersPath: 'Empieza cada campo por data. y usa 5 nombres como máximo, por ejemplo data.job_id',
      filtersTwice: 'Usa cada campo una sola vez: puede tener varios valores',
      filtersMany: 'Usa 50 valores como máximo en un filtro'
    },
    refused: {
      title: 'El servicio lo ha rechazado',
      text: 'Comprueba que el endpoint sea una dirección https pública y que tu cuenta no haya alcanzado su límite de webhooks.'
    },
    restored: { title: 'Hemos recuperado tus cambios sin guardar', discard: 'Descartarlos' },
    leave: { title: '¿Salir sin guardar?', text: 'Se perderá lo que has escrito.', stay: 'Quedarse', leave: 'Salir' }
  },
  secret: {
    created: 'Tu webhook está listo',
    rotated: 'Tu nuevo secreto',
    intro: 'Este secreto demuestra que una solicitud es nuestra. Solo se muestra una vez.',
    label: 'Secreto de firma',
    store:
      'Guárdalo donde tu aplicación guarda sus secretos, por ejemplo en la variable de entorno WEBHOOK_SECRET. Nunca lo pongas en el código.',
    bothUntil: 'Hasta {time}, las solicitudes también se firman con el secreto anterior. Despliega el nuevo antes.',
    verify: {
      title: 'Verifica cada solicitud',
      text: 'Usa el cuerpo tal como llega, no uno analizado y serializado de nuevo. Responde enseguida con 204 y haz el trabajo después.',
      languages: 'Lenguaje',
      code: 'Código en {language}'
    },
    stored: 'Lo he guardado',
    leave: {
      title: '¿Has guardado el secreto?',
      text: 'No se volverá a mostrar. Si lo pierdes, tendrás que rotarlo.',
      stay: 'Quedarse',
      leave: 'Salir'
    }
  },
  endpoint: {
    title: 'Webhook',
    edit: 'Editar',
    details: {
      title: 'Detalles',
      url: 'URL del endpoint',
      events: 'Eventos',
      created: 'Creado',
      updated: 'Modificado',
      sourceIps: 'Las notificaciones llegan desde',
      sourceIpsHint: 'Si un firewall protege tu endpoint, permite estas direcciones.'
    },
    health: {
      failing: {
        title: 'Tu endpoint falla desde: {time}',
        text: 'Reintentamos cada evento durante varios días. Si nada llega durante demasiado tiempo, desactivamos el webhook. Envía una prueba para ver qué falla.'
      },
      waiting: {
        title: 'Entregas en espera hasta: {time}',
        text: 'Tu endpoint nos pidió ir más despacio o no respondió. No se pierde nada.'
      },
      held: {
        title: 'Ahora mismo no se envía nada',
        text: 'Hemos detenido todas las notificaciones de esta instalación. Los eventos se registran. La causa no es tu endpoint.'
      },
      gone: {
        title: 'Desactivado: tu endpoint devolvió 410 Gone',
        text: 'Significa que la dirección ya no existe. Corrige la URL si ha cambiado, vuelve a activar el webhook y reenvía los eventos que se perdió.'
      },
      tooLong: {
        title: 'Desactivado: tu endpoint falló durante demasiado tiempo',
        text: 'Envía una prueba y corrige lo que muestre. Después vuelve a activar el webhook y reenvía los eventos que se perdió.'
      },
      inactive: {
        title: 'Pausado por tu equipo',
        text: 'Los eventos se registran, pero no se envían. Reanuda y reenvía los eventos que se perdió.'
      }
    },
    activity: {
      title: 'Últimas 24 horas',
      share: '{percent} entregado',
      counts: '{delivered} entregados, {failed} abandonados, {pending} en espera',
      none: 'No se entregó ni se abandonó nada.',
      latest: 'De las {count} entregas más recientes.',
      chart: 'Gráfico de las entregas por hora',
      hour: '{time}: {delivered} entregados, {failed} abandonados'
    },
    actions: {
      title: 'Gestionar',
      pause: 'Pausar',
      pauseText: 'Los eventos se registran, pero no se envían hasta que reanudes. Entonces podrás reenviarlos.',
      pauseTitle: '¿Pausar {name}?',
      paused: '{name} está en pausa',
      resume: 'Reanudar',
      resumed: '{name} vuelve a estar activo',
      enable: 'Volver a activar',
      rotate: 'Rotar secreto',
      rotateText: 'Obtén un secreto nuevo, por ejemplo si el anterior pudo filtrarse.',
      delete: 'Eliminar',
      deleteText: 'Detiene todas las entregas. No se puede deshacer.',
      deleteTitle: '¿Eliminar {name}?',
      deleteAction: 'Eliminar webhook',
      deleted: 'Se ha eliminado {name}'
    },
    rotate: {
      text: 'Mientras el secreto anterior sea válido, cada solicitud se firma con ambos: así puedes desplegar el nuevo sin perder ninguna.',
      grace: 'Cuánto tiempo sigue siendo válido el secreto anterior',
      none: 'Nada',
      noneText: 'Tu endpoint rechaza solicitudes hasta que tenga el nuevo.',
      hour: '1 hora',
      day: '24 horas',
      week: '7 días',
      countdown: 'El secreto anterior es válido durante {time} más',
      ended: 'El secreto anterior ya no es válido.'
    }
  },
  test: {
    action: 'Enviar una prueba',
    title: 'Enviar una prueba',
    text: 'Enviamos una solicitud ahora, sin reintentos. Contiene "test": true y datos de ejemplo. Una prueba fallida no cuenta en contra de tu endpoint.',
    eventType: 'Tipo de evento',
    send: 'Enviar prueba',
    again: 'Enviar de nuevo',
    waiting: 'Esperando a tu endpoint, hasta 10 segundos',
    delivered: 'Entregado: tu endpoint devolvió {status} en {duration}',
    answered: 'Tu endpoint devolvió {status} tras {duration}.',
    unanswered: 'Sin respuesta tras {duration}.',
    errors: {
      timeout: {
        title: 'Tu endpoint no respondió a tiempo',
        text: 'Responde primero y haz el trabajo después. Si tu servidor no vio ninguna solicitud, busca un cortafuegos que la descarte.'
      },
      connection: {
        title: 'No pudimos conectar',
        text: 'Comprueba el host y el puerto de la URL, y que tu servidor esté en marcha. Su registro indica si llegó la solicitud.'
      },
      tls: {
        title: 'Falló la conexión segura',
        text: 'Comprueba que el certificado no haya caducado y coincida con el host, que tu servidor envíe la cadena completa y que admita TLS 1.2 o posterior.'
      },
      blocked: {
        title: 'La dirección no es pública',
        text: 'El nombre de host lleva a una dirección a la que no podemos llamar. Usa una pública.'
      },
      held: {
        title: 'Ahora mismo no se envía nada',
        text: 'Hemos detenido todas las notificaciones de esta instalación, así que no hubo solicitud. La causa no es tu endpoint.'
      },
      http_status: {
        title: 'Tu endpoint rechazó la solicitud',
        text: 'Solo de 200 a 299 cuenta como entregado. Busca esta solicitud en el registro de tu servidor.'
      }
    },
    statuses: {
      redirect: 'No seguimos redirecciones: usa la dirección final.',
      credentials: 'Algo delante de tu endpoint exige credenciales, o tu código rechazó la firma.',
      notFound: 'No hay nada en esta ruta: comprueba la URL.',
      method: 'Esta ruta no acepta POST: comprueba la URL.',
      gone: 'Con un evento, esta respuesta desactiva el webhook.',
      busy: 'Tu endpoint nos pide ir más despacio.',
      server: 'Un error en tu código o delante de él. Consulta el registro.'
    }
  },
  log: {
    title: 'Entregas',
    total: { one: '{count} entrega', other: '{count} entregas' },
    list: 'Entregas, las más recientes primero',
    keys: 'Av Pág y Re Pág pasan de una entrega a otra. Ctrl+Inicio va a los filtros, Ctrl+Fin sale de la lista.',
    end: 'Fin de las entregas',
    more: 'Se cargan más entregas al desplazarte',
    filter: {
      label: 'Filtrar las entregas',
      status: 'Estado',
      anyStatus: 'Todos',
      eventType: 'Tipo de evento',
      anyType: 'Todos',
      eventId: 'ID de evento',
      clear: 'Borrar filtros'
    },
    empty: {
      title: 'Todavía no hay entregas',
      text: 'Los eventos aparecen aquí en cuanto ocurren. Para comprobar tu endpoint ahora, envía una prueba. Las pruebas no aparecen aquí.'
    },
    noMatch: {
      title: 'Ninguna entrega coincide',
      text: 'No se envió nada con este estado, tipo de evento e ID de evento.'
    },
    newer: { one: '{count} entrega nueva', other: '{count} entregas nuevas' },
    changed: 'Mostrar los últimos cambios',
    status: {
      pending: 'En espera',
      delivered: 'Entregado',
      failed: 'Abandonado',
      skipped: 'Omitido',
      cancelled: 'Cancelado'
    },
    attempts: { one: '{count} intento', other: '{count} intentos' },
    answer: {
      timeout: 'Tiempo agotado',
      connection: 'Falló la conexión',
      tls: 'Falló la conexión segura',
      blocked: 'Dirección no permitida',
      http_status: 'Devolvió {status}',
      none: 'Aún no enviado',
      never: 'No enviado'
    },
    next: 'Próximo intento {when}',
    due: 'Próximo intento inminente'
  },
  delivery: {
    title: 'Entrega',
    back: 'Volver al webhook',
    eventId: 'ID de evento',
    eventType: 'Tipo de evento',
    created: 'Registrado',
    deliveredAt: 'Entregado',
    next: 'Próximo intento',
    due: 'Ahora',
    outcome: {
      delivered: { one: 'Entregado al primer intento.', other: 'Entregado tras {count} intentos.' },
      failed: {
        one: 'Abandonado tras {count} intento. No se reintentará automáticamente.',
        other: 'Abandonado tras {count} intentos. No se reintentará automáticamente.'
      },
      first: 'Se enviará en un momento.',
      pending: {
        one: 'Falló {count} intento. Reintentaremos automáticamente.',
        other: 'Fallaron {count} intentos. Reintentaremos automáticamente.'
      },
      skipped: 'El webhook no estaba activo, así que no se envió nada.',
      cancelled: 'Ya no se enviará, porque se borraron los datos del evento.'
    },
    attempts: {
      title: 'Intentos',
      none: 'Todavía no se ha enviado nada.',
      number: 'Intento {number}',
      duration: 'Duración: {duration}',
      excerpt: 'Inicio de la respuesta'
    },
    request: {
      title: 'Solicitud',
      label: 'Encabezados de la solicitud',
      timestamp: 'nuevo en cada intento',
      signature: 'nueva en cada intento',
      hidden: 'no se muestra',
      note: 'El comando vuelve a enviar esta solicitud, firmada con el secreto de tu variable de entorno WEBHOOK_SECRET. Si tu endpoint la acepta pero rechaza las nuestras, su secreto no es el de este webhook.',
      curl: 'Copiar como curl'
    },
    body: {
      title: 'Cuerpo',
      label: 'Cuerpo de la solicitud',
      note: 'Con sangría para leerlo. Al copiar obtienes el cuerpo exacto.',
      hidden: 'Tu sesión no tiene acceso a cuerpos ni respuestas.',
      erased: {
        title: 'Se borraron los datos de este evento',
        text: 'Alguien pidió eliminar sus datos. Solo queda esto, y solo esto se enviaría.'
      }
    },
    retry: {
      again: 'Enviar de nuevo',
      now: 'Intentar ahora',
      againSent: 'Enviado de nuevo como otra entrega',
      nowSent: 'Se ha iniciado un intento',
      open: 'Abrir la nueva entrega',
      inactive: { title: 'El webhook no está activo', text: 'Podrás enviarlo de nuevo cuando el webhook esté activo.' },
      toWebhook: 'Ir al webhook'
    }
  },
  replay: {
    open: 'Reenviar eventos',
    title: 'Reenviar eventos',
    intro: 'Vuelve a enviar eventos pasados, con los mismos ID.',
    range: 'Periodo',
    ranges: { hour: 'Última hora', day: 'Últimas 24 horas', week: 'Últimos 7 días', own: 'Periodo personalizado' },
    since: 'Desde',
    until: 'Hasta',
    untilNow: 'Si está vacío: hasta ahora',
    include: 'Qué eventos',
    undelivered: 'No entregados',
    undeliveredHint: 'Abandonados u omitidos',
    all: 'Todos',
    allHint: 'Incluye los ya entregados: tu endpoint los recibe dos veces',
    types: 'Tipos de eventos',
    typesHint: 'Sin selección: todos los que recibe el webhook',
    invalid: { since: 'Escribe una fecha y una hora', order: 'Debe ser anterior al final' },
    counting: 'Contando eventos',
    matches: { one: 'Se enviará {count} evento', other: 'Se enviarán {count} eventos' },
    none: 'No hay nada que enviar en este periodo. Los eventos en espera se enviarán de todos modos.',
    truncated: 'Hay más. Ahora se enviarán los {count} más antiguos.',
    againUndelivered: 'Cuando se hayan enviado, repite para el resto.',
    againAll: 'Después, reenvía el resto con un inicio posterior.',
    confirm: { one: 'Enviar {count} evento', other: 'Enviar {count} eventos' },
    choose: 'Enviar eventos',
    queued: { one: '{count} evento en camino', other: '{count} eventos en camino' },
    left: { one: '{count} entrega sigue en espera', other: '{count} entregas siguen en espera' },
    ended: { one: 'Reenvío de {count} evento terminado', other: 'Reenvío de {count} eventos terminado' },
    failed: 'No queda ninguna entrega en espera, pero algunas han fallado. El registro indica por qué.',
    done: 'No queda ninguna entrega en espera. El registro indica el resultado de cada una.',
    showLog: 'Mostrar en el registro',
    inactive: {
      title: 'El webhook no está activo',
      text: 'Actívalo primero. Después podrás reenviar los eventos que se perdió.'
    }
  }
}
