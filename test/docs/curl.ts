// Test support: does what `curl` does for the calls in the documentation, since not every machine has it. reader.ts puts it
// on the path of a reader. Ends with 22 for a status that is no success, as `curl --fail` does, and with 2 for a flag that
// it does not know.

import { parseArgs } from 'node:util';

const FLAGS = {
  silent: { type: 'boolean', short: 's' },
  'no-buffer': { type: 'boolean', short: 'N' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd' },
  request: { type: 'string', short: 'X' },
} as const;

async function call(): Promise<number> {
  const { values, positionals } = parseArgs({ options: FLAGS, allowPositionals: true });
  const { header = [], data, request } = values;
  const [url = ''] = positionals;
  const headers = new Headers(
    data === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' },
  );
  for (const each of header) {
    const [name = '', value = ''] = each.split(/: */, 2);
    headers.set(name, value);
  }
  const response = await fetch(/^https?:/.test(url) ? url : `http://${url}`, {
    ...{ method: request ?? (data === undefined ? 'GET' : 'POST'), headers },
    ...(data === undefined ? {} : { body: data }),
  });
  for await (const part of response.body ?? []) process.stdout.write(part);
  if (response.ok) return 0;
  process.stderr.write(`The status is ${response.status}.\n`);
  return 22;
}

// A stream that is followed ends so.
process.on('SIGTERM', () => process.exit(0));
try {
  process.exitCode = await call();
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 2;
}
