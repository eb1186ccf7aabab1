import type { ClaimedNotice, HealthNotice } from '../../ports/index.js'

interface NoticeRecord {
  notice: HealthNotice
  leasedUntil: number
}

/** Notices that the host has not confirmed yet. */
export class NoticeQueue {
  readonly #notices = new Map<number, NoticeRecord>()
  #lastId = 0

  add (notice: HealthNotice): void {
    this.#notices.set(++this.#lastId, { notice, leasedUntil: 0 })
  }

  claim ({ limit, leaseMs }: { limit: number, leaseMs: number }, now: number): ClaimedNotice[] {
    const free = [...this.#notices].filter(([, { leasedUntil }]) => leasedUntil <= now).slice(0, limit)
    for (const [, record] of free) record.leasedUntil = now + leaseMs
    return free.map(([noticeId, { notice }]) => ({ noticeId, notice: { ...notice } }))
  }

  confirm (noticeId: number): void {
    this.#notices.delete(noticeId)
  }

  clear (): void {
    this.#notices.clear()
  }

  renameTenant (from: string, to: string): void {
    for (const record of this.#notices.values()) {
      if (record.notice.tenantId === from) record.notice = { ...record.notice, tenantId: to }
    }
  }

  setName (tenant: string, tenantSlug: string): void {
    for (const record of this.#notices.values()) {
      if (record.notice.tenantId === tenant) record.notice = { ...record.notice, tenantSlug }
    }
  }

  removeTenant (tenant: string): void {
    for (const [id, { notice }] of this.#notices) if (notice.tenantId === tenant) this.#notices.delete(id)
  }
}
