// Reads the settings of the operator from a YAML file and flags, which beat the file. All problems are reported at once,
// each with the line or the flag that it comes from. Used by cli/operator.ts.

import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { ok, type Problem, printable, type Result, refused } from '../../model/index.ts';
import { isObject, validate } from '../../runtime/validation.ts';
import { isLoopback, type TlsFiles } from '../../wire/grpc/tls-files.ts';
import { type OperatorSettings, SETTINGS_SCHEMA } from './settings.ts';

/** Flags of `bigfleet operator` by the setting that they replace. */
export const SETTING_FLAGS = {
  cluster: 'cluster',
  'shard.addresses': 'shard',
  'shard.insecure': 'insecure',
  'shard.tls.cert': 'tls-cert',
  'shard.tls.key': 'tls-key',
  'shard.tls.ca': 'tls-ca',
  listen: 'listen',
  'kubernetes.kubeconfig': 'kubeconfig',
  'kubernetes.context': 'context',
  'kubernetes.namespace': 'namespace',
  'bootstrap.mode': 'bootstrap-mode',
  'bootstrap.templateFile': 'bootstrap-template',
  'log.level': 'log-level',
  'log.format': 'log-format',
} as const;

export type FlagKey = keyof typeof SETTING_FLAGS;
export type FlagValues = Readonly<Partial<Record<FlagKey, string | boolean>>>;

export interface SettingSources {
  readonly file?: { readonly path: string; readonly text: string };
  readonly flags: FlagValues;
}

/** Bytes of a file of settings. */
const MAX_FILE_BYTES = 1024 * 1024;

export function loadSettings({ file, flags }: SettingSources): Result<OperatorSettings> {
  const source = file === undefined ? EMPTY : readFile(file.path, file.text);
  if (source.problems.length > 0) return refused(source.problems);
  const merged = withFlags(source.value, flags);
  const where = (path: string): string => {
    const flag = Object.entries(SETTING_FLAGS).find(
      ([key]) => key === path && flags[key as FlagKey] !== undefined,
    );
    return flag === undefined ? source.where(path) : `--${flag[1]}`;
  };
  const result = validate(SETTINGS_SCHEMA, merged);
  const problems = result.ok ? contradictions(result.value) : result.problems;
  if (result.ok && problems.length === 0) return ok(result.value);
  return refused(problems.map(({ path, message }) => problem(where(path), message)));
}

/** The TLS files of the session; null: plaintext. */
export function sessionTls({ shard }: OperatorSettings): TlsFiles | null {
  const { cert, key, ca } = shard.tls;
  return cert !== undefined && key !== undefined && ca !== undefined ? { cert, key, ca } : null;
}

function problem(path: string, message: string): Problem {
  return { code: 'BF_CONFIG_INVALID', path, message };
}

interface FileSource {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Where the setting with this path is, for a message. */
  readonly where: (path: string) => string;
}

const EMPTY: FileSource = { value: {}, problems: [], where: (path) => path };

function readFile(path: string, text: string): FileSource {
  const file = printable(path);
  const refuse = (problems: readonly Problem[]): FileSource => ({ ...EMPTY, problems });
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    return refuse([problem(file, `It has more than ${MAX_FILE_BYTES} bytes.`)]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${file}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0)
    return refuse(document.errors.map(({ message, pos }) => problem(at(pos[0]), `${message}.`)));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    return refuse([problem(file, `${(error as Error).message}.`)]);
  }
  if (!isObject(value)) return refuse([problem(file, 'Expected settings by name, as in "cluster: web".')]);
  const where = (setting: string): string => {
    const offset = offsetOf(document.contents, fieldsOf(setting));
    return offset === null ? `${file} ${setting}` : `${at(offset)} ${setting}`;
  };
  return { value, problems: [], where };
}

/** `a.b[0]["c/d"]` as its fields. */
function fieldsOf(path: string): readonly (string | number)[] {
  const parts = path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g);
  return [...parts].map(([, index, quoted, name]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? (JSON.parse(quoted) as string) : name!,
  );
}

/** Offset of the innermost part of the path that the file has; null if it has none. */
function offsetOf(root: Node | null, fields: readonly (string | number)[]): number | null {
  let node: unknown = root;
  let found: number | null = null;
  for (const field of fields) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(key) === String(field));
      const key = pair?.key as Node | undefined;
      found = key?.range?.[0] ?? found;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(field)];
      found = (node as Node | undefined)?.range?.[0] ?? found;
    } else break;
  }
  return found;
}

function withFlags(value: unknown, flags: FlagValues): unknown {
  const merged = structuredClone(value) as Record<string, unknown>;
  for (const [key, flag] of Object.entries(flags)) {
    const fields = key.split('.');
    let target = merged;
    for (const field of fields.slice(0, -1)) {
      if (!isObject(target[field])) target[field] = {};
      target = target[field] as Record<string, unknown>;
    }
    target[fields.at(-1)!] = flag;
  }
  return merged;
}

/** Problems of settings in combination. */
function contradictions(settings: OperatorSettings): readonly Problem[] {
  const { shard, bootstrap, leaderElection } = settings;
  const problems: Problem[] = [];
  const given = (['cert', 'key', 'ca'] as const).filter((name) => shard.tls[name] !== undefined);
  if (given.length % 3 !== 0)
    problems.push(problem(`shard.tls.${given[0]!}`, 'All three TLS files are needed, or none.'));
  const exposed = shard.addresses.find((address) => !isLoopback(address));
  if (given.length === 0 && exposed !== undefined && !shard.insecure)
    problems.push(
      problem(
        'shard.addresses',
        `${exposed} is not on loopback and would be plaintext; give the TLS files, or use --insecure if the network is trusted.`,
      ),
    );
  if (bootstrap.mode === 'template' && bootstrap.templateFile === undefined)
    problems.push(
      problem('bootstrap.templateFile', 'Mode template needs a template; mode tokens has one of its own.'),
    );
  const { leaseDuration, renewDeadline, retryPeriod } = leaderElection;
  if (renewDeadline >= leaseDuration)
    problems.push(problem('leaderElection.renewDeadline', 'It must be less than leaseDuration.'));
  if (retryPeriod * 1.2 >= renewDeadline)
    problems.push(
      problem('leaderElection.retryPeriod', 'It must be less than five sixths of renewDeadline.'),
    );
  return problems;
}
