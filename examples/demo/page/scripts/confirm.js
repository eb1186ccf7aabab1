import { find } from './dom.js'

/** Asks before an irreversible action. Resolves to whether the user confirmed. */
export function confirm ({ title, text, action }) {
  const dialog = find('#confirm')
  find('#confirm-title').textContent = title
  find('#confirm-text').textContent = text
  find('#confirm-yes').textContent = action
  // Escape closes the dialog without changing the value.
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true })
  })
}
