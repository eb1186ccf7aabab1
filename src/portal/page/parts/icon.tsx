const paths = {
  good: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5 8.2l2.1 2.1L11 6.2',
  waiting: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V8l2.2 1.6',
  bad: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.7v3.8M8 10.9v.4',
  off: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM6.4 5.8v4.4M9.6 5.8v4.4',
  plus: 'M8 3v10M3 8h10',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  forward: 'M6.5 3.5 11 8l-4.5 4.5',
  copy: 'M6 5.5h7v8H6ZM3 10.5v-8h7',
  check: 'M3.5 8.5l3 3 6-6.5',
  webhook: 'M6.2 6.4a2.7 2.7 0 1 1 3.9.2l2 3.6M9.4 12H5.2M4.6 9.3a2.6 2.6 0 1 0 2 3.6M7.7 4.6 5.2 9.2M10.6 10.6a2.3 2.3 0 1 1-.6 2.6',
  up: 'M8 13V3M4 7l4-4 4 4',
  replay: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2v3h-3',
  close: 'm4 4 8 8M12 4l-8 8'
} as const

export type IconName = keyof typeof paths

/** A picture beside a word: screen readers skip it. */
export function Icon ({ name }: { name: IconName }) {
  const isTurned = name === 'back' || name === 'forward'
  return (
    <svg class={isTurned ? 'icon icon-turned' : 'icon'} viewBox='0 0 16 16' width='16' height='16' aria-hidden='true' focusable='false'>
      <path d={paths[name]} />
    </svg>
  )
}
