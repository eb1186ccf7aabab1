/** An event id for examples in the document. */
export const eventIdExample = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'
