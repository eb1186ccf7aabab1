import { CodeBlock } from '../../parts/code-block.js'
import { Tabs } from '../../parts/tabs.js'
import { useFormat } from '../../state/portal.js'
import go from './code/go.txt'
import javascript from './code/javascript.txt'
import php from './code/php.txt'
import python from './code/python.txt'

const codes = { JavaScript: javascript, Python: python, PHP: php, Go: go }

/** Code that verifies a request, in four languages. */
export function VerifyCode () {
  const { messages: { secret: { verify } }, text } = useFormat()
  const tabs = Object.entries(codes).map(([name, code]) => ({ name, content: <CodeBlock code={code} label={text(verify.code, { language: name })} /> }))
  return (
    <section class='section'>
      <h2>{verify.title}</h2>
      <p class='muted'>{verify.text}</p>
      <Tabs label={verify.languages} tabs={tabs} />
    </section>
  )
}
