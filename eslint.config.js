export { default } from './.ci/eslint.config.js'
