// Save your document first: curl https://ats.example.com/api/v1/public/openapi.json -o openapi.json
module.exports = require('./app.js').createApp(require('./openapi.json'))
