/** What the correct clients share. */

/** Ends the program with an error. */
export function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}

/** @throws Error if the next item takes longer than so many milliseconds */
export async function* within<Item>(items: AsyncIterable<Item>, limit: number): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`nothing arrived for ${limit / 1_000} s`)), limit);
    const { done, value } = await Promise.race([iterator.next(), late]).finally(() => clearTimeout(timer));
    if (done) return;
    yield value;
  }
}
