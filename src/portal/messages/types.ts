import type { en } from './en.js'

/** A text that depends on a number, by the categories of `Intl.PluralRules`. `{count}` is the number. */
export type Plural = { other: string } & { [Category in 'zero' | 'one' | 'two' | 'few' | 'many']?: string }

/** The same tree with any texts in it. */
type TextsOf<Tree> = {
  [Key in keyof Tree]: Tree[Key] extends string
    ? string
    : Tree[Key] extends { other: string }
      ? Plural
      : TextsOf<Tree[Key]>
}

/**
 * All texts of the portal in one language: plain data, in which `{name}` is a placeholder. The English ones say what
 * each is for. The compiler names those that are missing.
 */
export type PortalMessages = TextsOf<typeof en>
