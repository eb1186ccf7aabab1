/** Something to say; `turn` tells two of the same text apart. */
export interface Announcement {
  text: string
  turn: number
}

/** Says what happened to screen readers. */
export function Announcer ({ text, turn }: Announcement) {
  return <p class='unseen' role='status' aria-live='polite'><span key={turn}>{text}</span></p>
}
