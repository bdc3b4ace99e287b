// Options of a benchmark or a verification on its command line.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The options given; one that is unknown, or lacks its value, ends the program with 2 and a word on it. */
export function optionsGiven<const T extends ParseArgsOptionsConfig>(options: T) {
  try {
    return parseArgs<{ options: T }>({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [problem] = error.message.split('. To specify');
    console.error(`${problem!.replace(/\.$/, '')}. --help tells more.`);
    process.exit(2);
  }
}
