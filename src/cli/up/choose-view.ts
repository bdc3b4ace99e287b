// Chooses the view of `bigfleet up` for up.ts: the live screen needs a terminal that can move its cursor and a
// keyboard; everything else gets plain lines.

import type { ReadStream, WriteStream } from 'node:tty';
import type { DemoScenarioName } from '../../web/index.ts';
import { PlainView } from './plain.ts';
import { TerminalView, type UpView } from './terminal.ts';

export interface ViewFlags {
  readonly output: 'text' | 'json';
  readonly plain: boolean;
}

/** Properties of the process that the choice depends on; tests pass their own. */
export interface ViewEnvironment {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * NO_COLOR (https://no-color.org) asks for text without escape codes, which the live screen consists of; a dumb terminal
 * cannot show it.
 */
function canBeLive({ input, output, env }: ViewEnvironment): boolean {
  const noColor = env['NO_COLOR'] ?? '';
  return output.isTTY && input.isTTY && noColor === '' && env['TERM'] !== 'dumb';
}

export function chooseView(
  flags: ViewFlags,
  hooks: { readonly runScenario: (name: DemoScenarioName) => Promise<string>; readonly quit: () => void },
  environment: ViewEnvironment = { input: process.stdin, output: process.stdout, env: process.env },
): UpView {
  const { input, output } = environment;
  if (flags.output === 'text' && !flags.plain && canBeLive(environment))
    return new TerminalView({ input, output, ...hooks });
  return new PlainView({
    out: (text) => output.write(text),
    format: flags.output,
    monotonicMs: () => performance.now(),
    nowMs: () => Date.now(),
  });
}
