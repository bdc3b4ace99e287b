// Reports a failed command on standard error: for people one line with a remedy, and with `-o json` one JSON object for
// the calling program. Called by main.ts and output-errors.ts; program.ts throws `UsageError`, and decide.ts prints
// `errorJson` through its own output.

import { CommanderError } from 'commander';
import { BigFleetError, ERRORS, type ErrorCode, type Problem, printable } from '../model/index.ts';
import { asCalledHere, invocation } from './invocation.ts';
import { columnsOf, indented, LINE_WIDTH } from './table.ts';

/** Arguments that the parser rejected, and the command that they were for. */
export class UsageError extends CommanderError {
  /** Such as `get machines`; '' for `bigfleet` itself. */
  readonly path: string;

  constructor({ exitCode, code, message }: CommanderError, path: string) {
    super(exitCode, code, message);
    this.path = path;
  }

  /** Without the parser's prefix, in one line. */
  get detail(): string {
    const text = this.message
      .replace(/^error: /, '')
      .replaceAll('\n', ' ')
      .trim();
    return /[.?!)]$/.test(text) ? text : `${text}.`;
  }

  get help(): string {
    return `Help: ${[invocation(), this.path, '--help'].filter((part) => part !== '').join(' ')}`;
  }
}

/** The error as JSON, for programs. */
export interface ErrorJson {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: string;
  readonly problems: readonly Problem[];
}

/** Whether the arguments ask for JSON. Scans the raw arguments, because parsing them may be what failed. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  return flags.some(
    (word, i) =>
      ['-ojson', '-o=json', '--output=json'].includes(word) ||
      (word === 'json' && ['-o', '--output'].includes(flags[i - 1] ?? '')),
  );
}

/** Prints the error. The parser itself prints only help that was requested. */
export function reportError(error: unknown, isJson: boolean): void {
  if (error instanceof CommanderError && error.exitCode === 0) return;
  if (isJson) printError(JSON.stringify(errorJson(error), null, 2));
  else if (error instanceof UsageError) printError(`BF_USAGE: ${error.detail}\n${error.help}`);
  else if (error instanceof BigFleetError) printError(asCalledHere(error.message));
  else console.error(error);
}

export function errorJson(error: unknown): ErrorJson {
  if (error instanceof BigFleetError) {
    const { code } = error;
    const problems = error.problems.map((problem) => ({
      ...problem,
      message: asCalledHere(problem.message),
    }));
    const [first] = problems;
    const message = problems.length === 1 && first !== undefined ? placed(first) : ERRORS[code].summary;
    return { code, message, remedy: asCalledHere(ERRORS[code].remedy), problems };
  }
  if (error instanceof UsageError) return jsonOf('BF_USAGE', error.detail, error.help);
  return jsonOf('BF_UNEXPECTED', error instanceof Error ? error.message : String(error));
}

function jsonOf(code: ErrorCode, message: string, remedy: string = ERRORS[code].remedy): ErrorJson {
  return { code, message, remedy, problems: [{ code, path: '', message }] };
}

function placed({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** Escapes control characters. Lines are wrapped on a terminal only. */
function printError(text: string): void {
  const lines = text.trimEnd().split('\n').map(printable);
  const width = Math.min(columnsOf(process.stderr), LINE_WIDTH);
  const shown = process.stderr.isTTY ? lines.flatMap((line) => fitted(line, width)) : lines;
  process.stderr.write(`${shown.join('\n')}\n`);
}

/** Wraps a line that is too long. */
function fitted(line: string, width: number): readonly string[] {
  if (line.length <= width) return [line];
  const text = line.trimStart();
  return indented(text, line.length - text.length, width);
}
