/** Given and family names of one language, and how to join them. */
export interface NamePool {
  given: readonly string[]
  family: readonly string[]
  /** Between the two names. The given name comes first unless `isFamilyFirst`. */
  separator?: string
  isFamilyFirst?: boolean
}

/** Names with the accents, apostrophes and scripts that search and sort must handle. */
export const namePools: readonly NamePool[] = [
  {
    given: ['Amelia', 'Oliver', 'Grace', 'Harry', 'Imogen', 'Theo', 'Priya', 'Marcus'],
    family: ['Bennett', 'Clarke', 'Hughes', 'Okafor', 'Patel', 'Taylor-Reid', 'Walsh', 'Whitaker']
  },
  {
    given: ['Élodie', 'Émile', 'Zoé', 'François', 'Agnès', 'Jérôme', 'Noëlle', 'Léo'],
    family: ['Béranger', 'Dupré', 'Étienne', 'Garçon', 'Hébert', 'Lefèvre', 'Moreau', 'Renée-Blanc']
  },
  {
    given: ['Søren', 'Åse', 'Bjørn', 'Jørgen', 'Frøydis', 'Håkon', 'Maja', 'Gøran'],
    family: ['Ødegård', 'Sørensen', 'Bjørnstad', 'Nygård', 'Østby', 'Lindqvist', 'Ångström', 'Kjær']
  },
  {
    given: ['Begoña', 'Iñaki', 'José', 'Lucía', 'Sofía', 'Andrés', 'Íñigo', 'Nuria'],
    family: ['Muñoz', 'Peña', 'Núñez', 'Ibáñez', 'García', 'Ordóñez', 'Vázquez', 'Cañizares']
  },
  {
    given: ['João', 'Inês', 'Conceição', 'Tomás', 'Thaís', 'Luís'],
    family: ['Gonçalves', 'Simões', 'Araújo', 'Magalhães', 'Brandão', 'da Conceição']
  },
  {
    given: ['Jürgen', 'Käthe', 'Björn', 'Anke', 'Sören', 'Jörg'],
    family: ['Müller', 'Weiß', 'Schröder', 'Groß', 'Köhler', 'von der Höh']
  },
  {
    given: ['Łukasz', 'Małgorzata', 'Wojciech', 'Żaneta', 'Michał', 'Grażyna'],
    family: ['Wójcik', 'Kowalczyk', 'Wróbel', 'Zając', 'Dąbek', 'Śliwa']
  },
  {
    given: ['Çağla', 'Gökhan', 'Şule', 'Ömer', 'İpek', 'Ayşe'],
    family: ['Yılmaz', 'Öztürk', 'Şahin', 'Çelik', 'Doğan', 'Işık']
  },
  {
    given: ['Siobhán', 'Oisín', 'Aoife', 'Pádraig', 'Róisín', 'Seán'],
    family: ['O\'Brien', 'O’Connor', 'Ó Súilleabháin', 'Byrne', 'Fitzgerald', 'MacCarthy']
  },
  {
    given: ['Ágnes', 'Győző', 'Márton', 'Eszter'],
    family: ['Szőke', 'Kovács', 'Tóth', 'Fehér']
  },
  {
    given: ['Thị Hồng', 'Văn Đức', 'Minh Anh', 'Thanh Tùng'],
    family: ['Nguyễn', 'Trần', 'Phạm', 'Đặng'],
    isFamilyFirst: true
  },
  {
    given: ['Ελένη', 'Μαρία', 'Κατερίνα', 'Δήμητρα'],
    family: ['Παπαδοπούλου', 'Γεωργίου', 'Νικολάου', 'Αντωνίου']
  },
  {
    given: ['Оксана', 'Тарас', 'Юлія', 'Андрій'],
    family: ['Шевченко', 'Бондаренко', 'Коваленко', 'Ткаченко']
  },
  {
    given: ['अनन्या', 'रोहन', 'प्रिया', 'अर्जुन'],
    family: ['शर्मा', 'गुप्ता', 'वर्मा', 'मेहता']
  },
  {
    given: ['ליאור', 'נועה', 'יעל', 'איתן'],
    family: ['לוי', 'כהן', 'מזרחי', 'ברק']
  },
  {
    given: ['ليلى', 'يوسف', 'مريم', 'كريم'],
    family: ['حداد', 'منصور', 'خوري', 'نصار']
  },
  {
    given: ['伟', '秀英', '小明', '丽华'],
    family: ['王', '李', '张', '欧阳'],
    separator: '',
    isFamilyFirst: true
  },
  {
    given: ['美咲', '健太', '葵', '翔太'],
    family: ['佐藤', '鈴木', '髙橋', '渡邉'],
    isFamilyFirst: true
  },
  {
    given: ['민준', '서연', '지우', '하은'],
    family: ['김', '이', '박', '최'],
    separator: '',
    isFamilyFirst: true
  }
]
