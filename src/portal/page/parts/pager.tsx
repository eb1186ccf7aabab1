import { useFormat } from '../state/portal.js'
import { Button } from './button.js'

/** Goes through the pages of a list. */
export function Pager ({ page, pages, onPage, isBusy = false }: { page: number, pages: number, onPage: (page: number) => void, isBusy?: boolean }) {
  const { messages: { shell }, text } = useFormat()
  if (pages <= 1 && page === 1) return null
  return (
    <nav class='pager' aria-label={shell.pages.label}>
      <Button onClick={() => onPage(page - 1)} isDisabled={page <= 1 || isBusy}>{shell.pages.previous}</Button>
      <span>{text(shell.pages.position, { page, pages })}</span>
      <Button onClick={() => onPage(page + 1)} isDisabled={page >= pages || isBusy}>{shell.pages.next}</Button>
    </nav>
  )
}
