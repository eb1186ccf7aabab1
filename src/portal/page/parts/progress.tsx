/** How far something is; without `value` it only moves. */
export function Progress ({ label, value, max }: { label: string, value?: number, max?: number }) {
  return (
    <label class='progress'>
      <span>{label}</span>
      <progress value={value} max={max} />
    </label>
  )
}
