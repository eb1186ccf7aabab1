// What Swagger UI shows, and how. Its other settings: https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/

const dark = matchMedia('(prefers-color-scheme: dark)')
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followSystem)
followSystem()

// Swagger UI itself could only keep the key for good. This keeps it until the tab is closed, through reloads.
const place = 'recruiting-api-key'
const keepKey = {
  authorize: (proceed) => (schemes) => {
    sessionStorage.setItem(place, schemes.apiKey.value)
    return proceed(schemes)
  },
  logout: (proceed) => (schemes) => {
    sessionStorage.removeItem(place)
    return proceed(schemes)
  }
}

const page = SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '/api/v1/public/openapi.json',
  // The address names the operation that is open, so that it can be passed on.
  deepLinking: true,
  // Asks nobody else whether the document is valid.
  validatorUrl: null,
  plugins: [{ statePlugins: { auth: { wrapActions: keepKey } } }],
  onComplete () {
    const key = sessionStorage.getItem(place)
    if (key !== null) page.preauthorizeApiKey('apiKey', key)
  }
})
