/** Maximum number of cached names: clients may choose the model. */
const MAX_NAMES = 1000;

/**
 * Caches what a function returns for a name. Model tables are lists of patterns, and codecs read them several times a call;
 * the result depends only on the name.
 */
export function memoized<Value>(find: (name: string) => Value): (name: string) => Value {
  const known = new Map<string, Value>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined || known.has(name)) return found as Value;
    const value = find(name);
    if (known.size >= MAX_NAMES) known.clear();
    known.set(name, value);
    return value;
  };
}
