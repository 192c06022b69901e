/** Whether something ends in time. */

export async function endsWithin(pending: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const inTime = await Promise.race([pending.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
