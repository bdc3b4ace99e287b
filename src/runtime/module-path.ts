// Resolves modules that a worker thread or a child process is started from. Used by the owners of threads and by
// process/shard.ts.

/** URL of a module in the directory of the calling one: `.js` in the published package, `.ts` in a checkout. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
