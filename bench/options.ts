// Reads the command line of benchmarks and of scripts that verify or soak.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The given options; an unknown one, or one without its value, ends the program with 2 and a message. */
export function optionsGiven<const T extends ParseArgsOptionsConfig>(options: T) {
  try {
    return parseArgs<{ options: T }>({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [problem] = error.message.split('. To specify');
    console.error(`${problem!.replace(/\.$/, '')}. See --help.`);
    process.exit(2);
  }
}
