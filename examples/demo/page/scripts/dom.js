/** Creates an element. Functions become listeners; text and elements become children. */
export function h (tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== null) element.setAttribute(name, value)
  }
  element.append(...children.filter((child) => child !== null))
  return element
}

export function find (selector) {
  return document.querySelector(selector)
}

/** Fills a group with one button for each choice. Returns a function that marks one as pressed. */
export function createSegments (group, choices, onChoose) {
  const buttons = choices.map(({ value, label }) =>
    h('button', { type: 'button', click: () => onChoose(value) }, label)
  )
  group.replaceChildren(...buttons)
  return (chosen) => {
    for (const [index, { value }] of choices.entries()) {
      buttons[index].setAttribute('aria-pressed', String(value === chosen))
    }
  }
}

const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

export function formatTime (atMs) {
  return time.format(atMs)
}
