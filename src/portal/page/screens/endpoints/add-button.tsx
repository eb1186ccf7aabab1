import { Icon } from '../../parts/icon.js'
import { Link } from '../../parts/link.js'
import { useFormat, usePortal } from '../../state/portal.js'

/** Leads to the form of a new webhook, if the session may create one: its secret is part of it. */
export function AddButton () {
  const { can } = usePortal()
  const { messages: { endpoints } } = useFormat()
  if (!can('write') || !can('secrets')) return null
  return <Link to={{ screen: 'create' }} look='button button-primary'><Icon name='plus' /> <span>{endpoints.add}</span></Link>
}
