/** Tables that are asked with words from outside. */

/** The value under a word; `undefined` for words the table does not have, `constructor` and its like among them. */
export function getOwn<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
