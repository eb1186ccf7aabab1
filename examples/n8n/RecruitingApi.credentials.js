/** The address of a tenant's API, and a key. n8n tests them by reading the key. */
class RecruitingApi {
  name = 'recruitingApi'
  displayName = 'Recruiting API'
  properties = [
    { displayName: 'API address', name: 'url', type: 'string', default: '', placeholder: 'https://ats.example.com/api/v1/public/acme' },
    { displayName: 'API key', name: 'key', type: 'string', typeOptions: { password: true }, default: '' }
  ]

  authenticate = { type: 'generic', properties: { headers: { authorization: '=Bearer {{$credentials.key}}' } } }
  test = { request: { baseURL: '={{$credentials.url}}', url: '/api_key' } }
}

module.exports = { RecruitingApi }
