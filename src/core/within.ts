/** Time limits for promises. */

/** @returns whether a promise is fulfilled in time @throws what it rejects with in time */
export async function endsWithin(pending: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  return raced(
    pending.then(() => true),
    late,
    setTimeout(resolve, ms, false),
  );
}

/** The value of a promise. @throws what `late` returns if it comes too late, and what the promise rejects with */
export async function within<Value>(pending: Promise<Value>, ms: number, late: () => Error): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  return raced(
    pending,
    promise,
    setTimeout(() => reject(late()), ms),
  );
}

async function raced<Value>(pending: Promise<Value>, late: Promise<Value>, timer: Timer): Promise<Value> {
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}
