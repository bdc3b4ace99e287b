// Detects duplicate keys in a JSON object, for document.ts. JSON.parse silently keeps the last one, so a typing error
// could drop half a fleet.

export interface RepeatedKey {
  readonly key: string;
  /** Where the second occurrence starts. */
  readonly offset: number;
}

const STRING = /"(?:[^"\\]|\\.)*"/y;

/** The first duplicate key of a JSON text that is known to be well-formed, or null. */
export function repeatedKey(text: string): RepeatedKey | null {
  /** Keys seen so far, for every open object; null for an array. */
  const open: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '{') open.push(new Set());
    else if (c === '[') open.push(null);
    else if (c === '}' || c === ']') open.pop();
    else if (c === '"') {
      STRING.lastIndex = i;
      const quoted = STRING.exec(text)![0];
      const keys = open.at(-1);
      if (keys && isKey(text, i + quoted.length)) {
        const key = JSON.parse(quoted) as string;
        if (keys.has(key)) return { key, offset: i };
        keys.add(key);
      }
      i += quoted.length - 1;
    }
  }
  return null;
}

/** Whether a string that ends here is followed by a colon. */
function isKey(text: string, from: number): boolean {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\t' || text[at] === '\r') at++;
  return text[at] === ':';
}
