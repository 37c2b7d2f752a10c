/* global __dirname */
const { join, sep } = require('node:path');

const nest11 = join(__dirname, 'nest11');

/** Jest's resolver: packages that our own files import come from test/consumers/nest11 where it has them, else from the project. */
module.exports = function resolve(path, options) {
  const ours = !options.basedir.includes(`${sep}node_modules${sep}`);
  if (ours && !path.startsWith('.') && !path.startsWith(sep)) {
    try {
      return options.defaultResolver(path, { ...options, basedir: nest11 });
    } catch {
      // not one of its packages
    }
  }
  return options.defaultResolver(path, options);
};
