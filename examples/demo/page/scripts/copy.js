const shownMs = 2000

/** Copies a text, and confirms it on the button for two seconds. */
export async function copy (button, text) {
  const { label = button.textContent } = button.dataset
  button.dataset.label = label
  await navigator.clipboard.writeText(text)
  button.textContent = 'Copied'
  setTimeout(() => { button.textContent = label }, shownMs)
}
