/** Lookup in tables with keys that come from outside. */

/** The value of an own property; `undefined` for other keys, including inherited ones such as `constructor`. */
export function getOwn<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
