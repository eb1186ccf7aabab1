import { find, h } from './dom.js'

const bucketMs = 5000
const bucketCount = 24
const width = 480
const height = 56
const outcomes = [['delivered', 'good', 'delivered'], ['retry', 'warn', 'failed'], ['failed', 'bad', 'given up']]

/** Shows the attempts of the last two minutes by outcome, as stacked bars. */
export function createChart () {
  let attempts = []

  function draw () {
    const nowMs = Date.now()
    const end = Math.ceil(nowMs / bucketMs) * bucketMs
    const start = end - bucketCount * bucketMs
    attempts = attempts.filter(({ atMs }) => atMs >= start)
    const buckets = Array.from({ length: bucketCount }, (_, index) => {
      const from = start + index * bucketMs
      const inside = attempts.filter(({ atMs }) => atMs >= from && atMs < from + bucketMs)
      return outcomes.map(([outcome]) => inside.filter((attempt) => attempt.outcome === outcome).length)
    })
    const top = Math.max(4, ...buckets.map((counts) => counts.reduce((sum, count) => sum + count, 0)))
    const totals = outcomes.map(([outcome]) => attempts.filter((attempt) => attempt.outcome === outcome).length)
    const summary = outcomes.map(([, , label], index) => `${totals[index]} ${label}`).join(', ')
    find('#chart').replaceChildren(formatBars(buckets, top, summary))
    find('#legend').replaceChildren(...outcomes.map(([, tone, label], index) => {
      return h('span', { class: `key ${tone}` }, h('b', {}, String(totals[index])), ` ${label}`)
    }))
  }

  setInterval(draw, 1000)
  return {
    add: (attempt) => attempts.push(attempt),
    draw,
    clear () { attempts = [] }
  }
}

function formatBars (buckets, top, summary) {
  const step = width / bucketCount
  const svg = create('svg', { viewBox: `0 0 ${width} ${height + 1}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Attempts in the last two minutes: ${summary}` })
  svg.append(create('line', { x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5, class: 'axis' }))
  for (const [index, counts] of buckets.entries()) {
    let y = height
    for (const [position, count] of counts.entries()) {
      if (count === 0) continue
      const barHeight = count / top * (height - 4)
      y -= barHeight
      svg.append(create('rect', { x: index * step + 2, y: y + 0.5, width: step - 4, height: Math.max(barHeight - 1, 1), class: outcomes[position][1] }))
    }
  }
  return svg
}

function create (tag, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  return element
}
