import type { PortalMessages } from './types.js'

/** All texts of the portal in Portuguese, as written in Brazil. */
export const pt: PortalMessages = {
  shell: {
    title: 'Webhooks',
    back: 'Voltar',
    cancel: 'Cancelar',
    close: 'Fechar',
    copy: 'Copiar',
    copied: 'Copiado',
    copyByHand: 'Pressione Ctrl+C ou ⌘C para copiar',
    loading: 'Carregando',
    working: 'Em andamento',
    retry: 'Tentar novamente',
    required: 'Obrigatório',
    readOnly: 'Você pode ver tudo aqui, mas não pode alterar nada.',
    returnTo: 'Voltar para onde você estava',
    pages: { label: 'Páginas', previous: 'Anterior', next: 'Próxima', position: 'Página {page} de {pages}' },
    confirm: { type: 'Digite {name} para confirmar', mismatch: 'O nome não corresponde' },
    offline: {
      title: 'Você está off-line',
      text: 'Esta página continua automaticamente assim que você estiver on-line de novo.'
    },
    switch: {
      title: 'Mudar para {name}?',
      text: 'Um link está tentando abrir aqui os webhooks de outra conta. Mude somente se confiar nele. As alterações não salvas serão perdidas.',
      accept: 'Mudar',
      decline: 'Ficar'
    },
    session: {
      none: 'Abra esta página pelas suas configurações',
      noneText:
        'Não há sessão aqui. Para sua segurança, a sessão termina quando você sai da página ou a recarrega, e links copiados não a contêm. Volte às suas configurações e abra os webhooks por lá.',
      silent: 'Ainda não há sessão',
      silentText: 'A página em volta desta não respondeu. Talvez seja preciso entrar lá novamente.',
      ended: 'Sua sessão terminou',
      endedText: 'Abra os webhooks novamente pelas suas configurações para continuar.'
    }
  },
  problem: {
    requestId: 'ID da solicitação',
    retryIn: {
      one: 'Você pode tentar novamente em {count} segundo.',
      other: 'Você pode tentar novamente em {count} segundos.'
    },
    bad_request: { title: 'Alguns dados são inválidos', text: 'Confira o que você digitou e tente novamente.' },
    unauthorized: {
      title: 'Sua sessão não é mais válida',
      text: 'Abra os webhooks novamente pelas suas configurações.'
    },
    forbidden: {
      title: 'Você não tem permissão',
      text: 'Sua sessão não permite isso. Fale com um administrador da sua conta.'
    },
    not_found: { title: 'Não encontrado', text: 'Talvez tenha sido excluído. Volte à lista.' },
    conflict: { title: 'Outra pessoa alterou isto', text: 'Recarregue e refaça suas alterações.' },
    rate_limited: { title: 'Solicitações demais', text: 'Aguarde um momento e tente novamente.' },
    unavailable: {
      title: 'O serviço está indisponível',
      text: 'Isso costuma passar rápido. Tente novamente em instantes.'
    },
    internal_error: {
      title: 'Algo deu errado do nosso lado',
      text: 'Tente novamente. Se continuar, envie o ID da solicitação ao suporte.'
    },
    network: { title: 'Não foi possível acessar o serviço', text: 'Verifique sua conexão e tente novamente.' },
    timeout: {
      title: 'O serviço não respondeu a tempo',
      text: 'Pode ter funcionado mesmo assim. Confira antes de tentar novamente.'
    }
  },
  endpoints: {
    intro: 'Enviamos uma solicitação assinada aos seus endpoints assim que algo acontece.',
    add: 'Adicionar webhook',
    list: 'Seus webhooks',
    empty: {
      title: 'Nenhum webhook ainda',
      text: 'Informe a URL de um endpoint e escolha os eventos que ele deve receber. Você recebe um segredo para verificar cada solicitação.',
      readOnly: 'Ninguém adicionou um ainda. Peça a alguém que possa alterar as configurações.'
    },
    events: { one: '{count} tipo de evento', other: '{count} tipos de eventos' },
    health: {
      active: 'Ativo',
      failing: 'Com falhas',
      paused: 'Pausado',
      disabled: 'Desativado',
      held: 'Suspenso',
      since: 'Desde {time}',
      givenUp: { one: '{count} evento não entregue', other: '{count} eventos não entregues' },
      inactive: 'Pausado pela sua equipe',
      gone: 'O endpoint retornou 410 Gone',
      failedTooLong: 'O endpoint falhou por tempo demais'
    }
  },
  form: {
    create: {
      title: 'Adicionar um webhook',
      intro: 'Informe para onde enviar as solicitações e para quais eventos.',
      submit: 'Criar webhook'
    },
    edit: { title: 'Editar webhook', submit: 'Salvar alterações', saved: '{name} foi salvo' },
    name: { label: 'Nome', hint: 'Visível apenas para sua equipe.', example: 'Sincronização com CRM' },
    url: {
      label: 'URL do endpoint',
      hint: 'Um endereço https público que aceite POST.',
      closed: 'Somente quem pode ver o conteúdo das entregas pode alterá-la.'
    },
    events: {
      label: 'Eventos',
      hint: 'Enviamos uma solicitação para cada um destes eventos.',
      search: 'Buscar eventos',
      chosen: '{count} de {total} selecionados',
      all: 'Todos de {group}',
      found: { one: '{count} evento encontrado', other: '{count} eventos encontrados' },
      nothing: 'Nenhum evento corresponde',
      example: 'Exemplo',
      exampleOf: 'Exemplo de {name}',
      gone: 'Não está mais disponível: remova-o',
      deprecated: 'Descontinuado desde {since}.',
      deprecatedUntil: 'Descontinuado: deixa de existir em {sunset}.',
      deprecatedLink: 'O que usar no lugar'
    },
    filters: {
      label: 'Filtros',
      hint: 'Opcional: enviar somente os eventos cujos dados correspondem a todos os filtros. Separe os valores com vírgulas: um deles deve corresponder. Coloque entre aspas retas o texto que contém vírgula ou parece um número: "7".',
      fieldOf: 'Campo do filtro {nth}',
      valuesOf: 'Valores do filtro {nth}',
      values: 'Valores',
      remove: 'Remover',
      removeOf: 'Remover o filtro {nth}',
      add: 'Adicionar filtro',
      types: {
        number: 'Número: {values}',
        string: 'Texto: {values}',
        boolean: 'Verdadeiro ou falso: {values}',
        null: 'Vazio ou ausente'
      },
      matches: {
        one: 'Os filtros correspondem a {matching} de {count} evento recente',
        other: 'Os filtros correspondem a {matching} dos últimos {count} eventos'
      },
      noEvents: 'Não há eventos recentes destes tipos para comparar'
    },
    headers: {
      label: 'Cabeçalhos',
      hint: 'Opcional: cabeçalhos exigidos por um gateway à frente do seu endpoint.',
      kept: 'Cada solicitação tem {names}. Os valores não são exibidos.',
      replace: 'Substituir cabeçalhos',
      nameOf: 'Nome do cabeçalho {nth}',
      valueOf: 'Valor do cabeçalho {nth}',
      value: 'Valor',
      remove: 'Remover',
      removeOf: 'Remover o cabeçalho {nth}',
      add: 'Adicionar cabeçalho'
    },
    faults: {
      nameBlank: 'Digite um nome, por exemplo Sincronização com CRM',
      urlBlank: 'Digite a URL do seu endpoint',
      urlInvalid: 'Digite a URL completa, por exemplo https://hooks.example.com/recruiting',
      urlParts: 'Remova o usuário, a senha e tudo a partir de #',
      urlHttps: 'Use uma URL que comece com https://',
      urlPublic: 'Use um nome de host público. Não conseguimos acessar endereços da sua rede.',
      eventsNone: 'Escolha pelo menos um evento',
      eventsGone: 'Remova os eventos que não estão mais disponíveis',
      headersIncomplete: 'Digite o nome e o valor de cada cabeçalho',
      headersName: 'Use apenas letras, números e hífens nos nomes dos cabeçalhos',
      filtersIncomplete: 'Digite o campo e os valores de cada filtro',
      filtersPath: 'Comece cada campo com data. e use no máximo 5 nomes, por exemplo data.job_id',
      filtersTwice: 'Use cada campo apenas uma vez: ele pode ter vários valores',
      filtersMany: 'Use no máximo 50 valores em um filtro'
    },
    refused: {
      title: 'O serviço recusou',
      text: 'Verifique se o endpoint é um endereço https público e se sua conta não atingiu o limite de webhooks.'
    },
    restored: { title: 'Suas alterações não salvas estão de volta', discard: 'Descartar' },
    leave: { title: 'Sair sem salvar?', text: 'O que você digitou será perdido.', stay: 'Ficar', leave: 'Sair' }
  },
  secret: {
    created: 'Seu webhook está pronto',
    rotated: 'Seu novo segredo',
    intro: 'Este segredo comprova que uma solicitação é nossa. Ele é exibido apenas uma vez.',
    label: 'Segredo de assinatura',
    store:
      'Guarde-o onde sua aplicação guarda os segredos, por exemplo na variável de ambiente WEBHOOK_SECRET. Nunca o coloque no código.',
    bothUntil: 'Até {time}, as solicitações também são assinadas com o segredo antigo. Implante o novo antes disso.',
    verify: {
      title: 'Verifique cada solicitação',
      text: 'Use o corpo original, não um corpo interpretado e serializado de novo. Responda logo com 204 e faça o trabalho depois.',
      languages: 'Linguagem',
      code: 'Código em {language}'
    },
    stored: 'Já o guardei',
    leave: {
      title: 'Você guardou o segredo?',
      text: 'Ele não será exibido novamente. Se o perder, terá de trocá-lo.',
      stay: 'Ficar',
      leave: 'Sair'
    }
  },
  endpoint: {
    title: 'Webhook',
    edit: 'Editar',
    details: {
      title: 'Detalhes',
      url: 'URL do endpoint',
      events: 'Eventos',
      created: 'Criado',
      updated: 'Alterado',
      sourceIps: 'As notificações vêm de',
      sourceIpsHint: 'Se um firewall protege seu endpoint, libere estes endereços.'
    },
    health: {
      failing: {
        title: 'Seu endpoint está falhando desde {time}',
        text: 'Tentamos cada evento novamente por vários dias. Se nada chegar por tempo demais, desativamos o webhook. Envie um teste para ver o que há de errado.'
      },
      waiting: {
        title: 'Entregas em espera até {time}',
        text: 'Seu endpoint pediu para irmos mais devagar ou não respondeu. Nada se perde.'
      },
      held: {
        title: 'Nada está sendo enviado no momento',
        text: 'Interrompemos todas as notificações desta instalação. Os eventos são registrados. A causa não é seu endpoint.'
      },
      gone: {
        title: 'Desativado: seu endpoint retornou 410 Gone',
        text: 'Isso significa que o endereço não existe mais. Corrija a URL se ela mudou, ative o webhook de novo e reenvie os eventos perdidos.'
      },
      tooLong: {
        title: 'Desativado: seu endpoint falhou por tempo demais',
        text: 'Envie um teste e corrija o que ele mostrar. Depois ative o webhook de novo e reenvie os eventos perdidos.'
      },
      inactive: {
        title: 'Pausado pela sua equipe',
        text: 'Os eventos são registrados, mas não enviados. Retome e reenvie os eventos perdidos.'
      }
    },
    activity: {
      title: 'Últimas 24 horas',
      share: '{percent} entregues',
      counts: '{delivered} entregues, {failed} abandonados, {pending} em espera',
      none: 'Nada foi entregue nem abandonado.',
      latest: 'Das {count} entregas mais recentes.',
      chart: 'Gráfico das entregas por hora',
      hour: '{time}: {delivered} entregues, {failed} abandonados'
    },
    actions: {
      title: 'Gerenciar',
      pause: 'Pausar',
      pauseText: 'Os eventos são registrados, mas não enviados até você retomar. Então você pode reenviá-los.',
      pauseTitle: 'Pausar {name}?',
      paused: '{name} está pausado',
      resume: 'Retomar',
      resumed: '{name} está ativo novamente',
      enable: 'Ativar novamente',
      rotate: 'Trocar segredo',
      rotateText: 'Receba um novo segredo, por exemplo se o antigo puder ter vazado.',
      delete: 'Excluir',
      deleteText: 'Interrompe todas as entregas. Isto não pode ser desfeito.',
      deleteTitle: 'Excluir {name}?',
      deleteAction: 'Excluir webhook',
      deleted: '{name} foi excluído'
    },
    rotate: {
      text: 'Enquanto o segredo antigo for válido, cada solicitação é assinada com os dois. Assim você implanta o novo sem perder nenhuma.',
      grace: 'Por quanto tempo o segredo antigo continua válido',
      none: 'Nenhum',
      noneText: 'Seu endpoint recusa solicitações até ter o novo.',
      hour: '1 hora',
      day: '24 horas',
      week: '7 dias',
      countdown: 'O segredo antigo é válido por mais {time}',
      ended: 'O segredo antigo não é mais válido.'
    }
  },
  test: {
    action: 'Enviar um teste',
    title: 'Enviar um teste',
    text: 'Enviamos uma solicitação agora, sem novas tentativas. Ela contém "test": true e dados de exemplo. Um teste com falha não conta contra seu endpoint.',
    eventType: 'Tipo de evento',
    send: 'Enviar teste',
    again: 'Enviar de novo',
    waiting: 'Aguardando seu endpoint, até 10 segundos',
    delivered: 'Entregue: seu endpoint retornou {status} em {duration}',
    answered: 'Seu endpoint retornou {status} após {duration}.',
    unanswered: 'Sem resposta após {duration}.',
    errors: {
      timeout: {
        title: 'Seu endpoint não respondeu a tempo',
        text: 'Responda primeiro e faça o trabalho depois. Se seu servidor não viu nenhuma solicitação, procure um firewall que a descarte.'
      },
      connection: {
        title: 'Não foi possível conectar',
        text: 'Verifique o host e a porta na URL e se seu servidor está em execução. O log dele mostra se a solicitação chegou.'
      },
      tls: {
        title: 'A conexão segura falhou',
        text: 'Verifique se o certificado não expirou e corresponde ao host, se seu servidor envia a cadeia completa e se aceita TLS 1.2 ou mais recente.'
      },
      blocked: {
        title: 'O endereço não é público',
        text: 'O nome de host leva a um endereço que não podemos chamar. Use um público.'
      },
      held: {
        title: 'Nada está sendo enviado no momento',
        text: 'Interrompemos todas as notificações desta instalação, então nenhuma solicitação foi feita. A causa não é seu endpoint.'
      },
      http_status: {
        title: 'Seu endpoint recusou a solicitação',
        text: 'Somente 200 a 299 conta como entregue. Procure esta solicitação no log do seu servidor.'
      }
    },
    statuses: {
      redirect: 'Não seguimos redirecionamentos: use o endereço final.',
      credentials: 'Algo à frente do seu endpoint exige credenciais, ou seu código recusou a assinatura.',
      notFound: 'Não há nada neste caminho: verifique a URL.',
      method: 'Este caminho não aceita POST: verifique a URL.',
      gone: 'Com um evento, esta resposta desativa o webhook.',
      busy: 'Seu endpoint pede que a gente vá mais devagar.',
      server: 'Um erro no seu código ou à frente dele. Confira o log.'
    }
  },
  log: {
    title: 'Entregas',
    total: { one: '{count} entrega', other: '{count} entregas' },
    list: 'Entregas, mais recentes primeiro',
    keys: 'Page Down e Page Up passam de uma entrega a outra. Ctrl+Home vai para os filtros, Ctrl+End sai da lista.',
    end: 'Fim das entregas',
    more: 'Mais entregas são carregadas ao rolar',
    filter: {
      label: 'Filtrar as entregas',
      status: 'Status',
      anyStatus: 'Todos',
      eventType: 'Tipo de evento',
      anyType: 'Todos',
      eventId: 'ID do evento',
      clear: 'Limpar filtros'
    },
    empty: {
      title: 'Nenhuma entrega ainda',
      text: 'Os eventos aparecem aqui assim que acontecem. Para verificar seu endpoint agora, envie um teste. Testes não aparecem aqui.'
    },
    noMatch: {
      title: 'Nenhuma entrega corresponde',
      text: 'Nada foi enviado com este status, tipo de evento e ID do evento.'
    },
    newer: { one: '{count} nova entrega', other: '{count} novas entregas' },
    changed: 'Mostrar as últimas alterações',
    status: {
      pending: 'Em espera',
      delivered: 'Entregue',
      failed: 'Abandonado',
      skipped: 'Ignorado',
      cancelled: 'Cancelado'
    },
    attempts: { one: '{count} tentativa', other: '{count} tentativas' },
    answer: {
      timeout: 'Tempo esgotado',
      connection: 'Falha na conexão',
      tls: 'Falha na conexão segura',
      blocked: 'Endereço não permitido',
      http_status: 'Retornou {status}',
      none: 'Ainda não enviado',
      never: 'Não enviado'
    },
    next: 'Próxima tentativa {when}',
    due: 'Próxima tentativa agora'
  },
  delivery: {
    title: 'Entrega',
    back: 'Voltar ao webhook',
    eventId: 'ID do evento',
    eventType: 'Tipo de evento',
    created: 'Registrado',
    deliveredAt: 'Entregue',
    next: 'Próxima tentativa',
    due: 'Agora',
    outcome: {
      delivered: { one: 'Entregue na primeira tentativa.', other: 'Entregue após {count} tentativas.' },
      failed: {
        one: 'Abandonado após {count} tentativa. Não tentaremos de novo automaticamente.',
        other: 'Abandonado após {count} tentativas. Não tentaremos de novo automaticamente.'
      },
      first: 'Será enviado em instantes.',
      pending: {
        one: '{count} tentativa falhou. Tentaremos de novo automaticamente.',
        other: '{count} tentativas falharam. Tentaremos de novo automaticamente.'
      },
      skipped: 'O webhook não estava ativo, então nada foi enviado.',
      cancelled: 'Não será mais enviado, porque os dados do evento foram apagados.'
    },
    attempts: {
      title: 'Tentativas',
      none: 'Nada foi enviado ainda.',
      number: 'Tentativa {number}',
      duration: 'Duração: {duration}',
      excerpt: 'Início da resposta'
    },
    request: {
      title: 'Solicitação',
      label: 'Cabeçalhos da solicitação',
      timestamp: 'novo a cada tentativa',
      signature: 'nova a cada tentativa',
      hidden: 'não exibido',
      note: 'O comando envia esta solicitação de novo, assinada com o segredo da sua variável de ambiente WEBHOOK_SECRET. Se seu endpoint a aceitar, mas recusar as nossas, o segredo dele não é o deste webhook.',
      curl: 'Copiar como curl'
    },
    body: {
      title: 'Corpo',
      label: 'Corpo da solicitação',
      note: 'Com recuos para leitura. Ao copiar, você obtém o corpo exato.',
      hidden: 'Sua sessão não tem acesso a corpos nem respostas.',
      erased: {
        title: 'Os dados deste evento foram apagados',
        text: 'Alguém pediu a exclusão dos seus dados. Só resta isto, e só isto seria enviado.'
      }
    },
    retry: {
      again: 'Enviar de novo',
      now: 'Tentar agora',
      againSent: 'Enviado de novo como nova entrega',
      nowSent: 'Uma tentativa foi iniciada',
      open: 'Abrir a nova entrega',
      inactive: {
        title: 'O webhook não está ativo',
        text: 'Você poderá enviar de novo quando o webhook estiver ativo.'
      },
      toWebhook: 'Ir para o webhook'
    }
  },
  replay: {
    open: 'Reenviar eventos',
    title: 'Reenviar eventos',
    intro: 'Envia eventos passados de novo, com os mesmos IDs.',
    range: 'Período',
    ranges: { hour: 'Última hora', day: 'Últimas 24 horas', week: 'Últimos 7 dias', own: 'Período personalizado' },
    since: 'De',
    until: 'Até',
    untilNow: 'Se vazio: até agora',
    include: 'Quais eventos',
    undelivered: 'Não entregues',
    undeliveredHint: 'Abandonados ou ignorados',
    all: 'Todos',
    allHint: 'Inclui os já entregues: seu endpoint os recebe duas vezes',
    types: 'Tipos de eventos',
    typesHint: 'Sem seleção: todos os que o webhook recebe',
    invalid: { since: 'Digite uma data e um horário', order: 'Deve ser anterior ao fim' },
    counting: 'Contando eventos',
    matches: { one: '{count} evento será enviado', other: '{count} eventos serão enviados' },
    none: 'Não há nada a enviar neste período. Os eventos em espera serão enviados de qualquer forma.',
    truncated: 'Há mais. Os {count} mais antigos serão enviados agora.',
    againUndelivered: 'Depois de enviados, repita para o restante.',
    againAll: 'Depois, reenvie o restante com um início posterior.',
    confirm: { one: 'Enviar {count} evento', other: 'Enviar {count} eventos' },
    choose: 'Enviar eventos',
    queued: { one: '{count} evento está a caminho', other: '{count} eventos estão a caminho' },
    left: { one: '{count} entrega ainda está em espera', other: '{count} entregas ainda estão em espera' },
    ended: { one: 'Reenvio de {count} evento concluído', other: 'Reenvio de {count} eventos concluído' },
    failed: 'Não há entregas em espera, mas algumas falharam. O log mostra por quê.',
    done: 'Não há entregas em espera. O log mostra o resultado de cada uma.',
    showLog: 'Mostrar no log',
    inactive: {
      title: 'O webhook não está ativo',
      text: 'Ative-o primeiro. Depois você pode reenviar os eventos perdidos.'
    }
  }
}
