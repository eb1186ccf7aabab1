/** The names of the script and the style below `assets/`. */
interface AssetNames {
  script: string
  style: string
}

/**
 * Formats the page. Its paths are relative, so it works under any prefix and behind a proxy that rewrites paths. The empty
 * icon saves browsers a request.
 */
export function formatPage (config: string, { script, style }: AssetNames): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Webhooks</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="preload" as="style" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body>
<recruiting-webhooks config="${escape(config)}"></recruiting-webhooks>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`
}

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
