/**
 * Begins work in its order, so much at once, and gives each result when it is asked for.
 * @returns a function for each piece of work, which rejects as the work does
 */
export function eachInOrder<Item, Value>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Value>,
): (() => Promise<Value>)[] {
  const settled: PromiseWithResolvers<Value>[] = items.map(() => Promise.withResolvers<Value>());
  for (const { promise } of settled) promise.catch(() => {});
  let next = 0;
  let hasFailed = false;
  const run = async (): Promise<void> => {
    for (let at = next++; at < items.length && !hasFailed; at = next++) {
      const { resolve, reject } = settled[at]!;
      try {
        resolve(await work(items[at]!));
      } catch (thrown) {
        // What has not begun does not begin any more; what waits for it gets the same reason.
        hasFailed = true;
        reject(thrown);
        for (const later of settled) later.reject(thrown);
      }
    }
  };
  for (let count = 0; count < Math.min(atOnce, items.length); count++) void run();
  return settled.map(
    ({ promise }) =>
      () =>
        promise,
  );
}
