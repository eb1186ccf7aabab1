/** Texts of the frame around every screen, and of its parts. */
export const shell = {
  title: 'Webhooks',
  back: 'Back',
  cancel: 'Cancel',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  copyByHand: 'Press Ctrl+C or ⌘C to copy',
  loading: 'Loading',
  working: 'Working',
  retry: 'Try again',
  required: 'Required',
  readOnly: 'You can look at everything here, but you cannot change it.',
  returnTo: 'Back to where you came from',
  pages: {
    label: 'Pages',
    previous: 'Previous',
    next: 'Next',
    position: 'Page {page} of {pages}'
  },
  confirm: {
    type: 'Type {name} to confirm',
    mismatch: 'This is not the same name'
  },
  offline: {
    title: 'You are offline',
    text: 'This page goes on by itself as soon as you are back.',
    back: 'You are online again'
  },
  session: {
    none: 'Open this page from your settings',
    noneText: 'There is no session here. For your safety it ends when the page is reloaded or its address is copied. Go back to your settings, and open the webhooks from there.',
    ended: 'Your session has ended',
    endedText: 'Nothing you typed is lost. Open the webhooks from your settings again to go on.',
    renewing: 'Renewing your session',
    renewed: 'Your session was renewed'
  }
}
