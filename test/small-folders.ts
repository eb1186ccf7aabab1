// Small folders share a process.
import './client/client.test.js'
import './keys/api-key.test.js'
import './keys/cache.test.js'
import './recorder/recorder.test.js'
import './shared/shared.test.js'
import './shared/start.test.js'
import './shared/type-builder.test.js'
import './sync/proof.test.js'
