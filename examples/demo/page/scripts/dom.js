/** Makes an element: attributes, and functions as listeners; text and elements as children. */
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

export function press (buttons, pressed) {
  for (const button of buttons) button.setAttribute('aria-pressed', String(button === pressed))
}

const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

export function formatTime (atMs) {
  return time.format(atMs)
}
