/** All texts of the portal in English. */
export const en = { shell: { title: 'Webhooks' } }
