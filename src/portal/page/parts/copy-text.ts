/**
 * Puts a text into the clipboard. A page in an iframe may not, unless the embedding page allows it: then by the command,
 * which needs a selected text beside the button.
 */
export async function copyText (text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyByCommand(text, beside)
  }
}

function copyByCommand (text: string, beside: HTMLElement): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'unseen'
  beside.after(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
    beside.focus()
  }
}
