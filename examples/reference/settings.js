// Settings of Swagger UI: https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/

const dark = matchMedia('(prefers-color-scheme: dark)')
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followSystem)
followSystem()

// Keeps the key until the tab is closed, including reloads. Swagger UI itself can only keep it forever.
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
  // Adds the open operation to the URL for sharing.
  deepLinking: true,
  // Does not send the document to an external validator.
  validatorUrl: null,
  plugins: [{ statePlugins: { auth: { wrapActions: keepKey } } }],
  onComplete () {
    const key = sessionStorage.getItem(place)
    if (key !== null) page.preauthorizeApiKey('apiKey', key)
  }
})
