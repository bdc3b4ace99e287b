// Files that a thread or a process is started from by name.

/** The module of this name beside the one with this URL: the published package has built files, a checkout the sources. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
