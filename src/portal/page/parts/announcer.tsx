/** Says what happened to screen readers. */
export function Announcer ({ text }: { text: string }) {
  return <p class='unseen' role='status' aria-live='polite'>{text}</p>
}
