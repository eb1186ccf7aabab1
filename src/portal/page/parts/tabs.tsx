import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

interface Tab {
  name: string
  content: ComponentChildren
}

/** Shows one of several things, for example an example per language. Arrow keys choose. */
export function Tabs ({ label, tabs }: { label: string, tabs: readonly Tab[] }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [chosen, setChosen] = useState(0)
  const choose = (index: number) => {
    const next = (index + tabs.length) % tabs.length
    setChosen(next)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextTab(event.key, chosen, tabs.length, list.current?.matches(':dir(rtl)') === true)
    if (next === null) return
    event.preventDefault()
    choose(next)
  }
  return (
    <div class='tabs'>
      <div ref={list} role='tablist' aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ name }, index) => (
          <button
            key={name} type='button' role='tab' id={`${id}-tab-${index}`} aria-controls={`${id}-panel`} aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1} onClick={() => choose(index)}
          >{name}
          </button>
        ))}
      </div>
      <div role='tabpanel' id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>{tabs[chosen]?.content}</div>
    </div>
  )
}

function nextTab (key: string, chosen: number, count: number, isRightToLeft: boolean): number | null {
  const forward = isRightToLeft ? -1 : 1
  const moves: Record<string, number> = { ArrowRight: chosen + forward, ArrowLeft: chosen - forward, Home: 0, End: count - 1 }
  return moves[key] ?? null
}
