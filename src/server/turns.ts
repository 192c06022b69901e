/**
 * Requests that arrive together begin in small groups, and all else that is ready has its turn between them: a burst of calls
 * would otherwise hold up every stream that runs, and the answers of its own first calls.
 */

/** Requests that begin in one turn of the event loop. */
const GROUP = 8;

type Fetch = (request: Request) => Response | Promise<Response>;

/** @returns the same function, which lets requests beyond a group wait for a later turn, in order */
export function inTurns(fetch: Fetch): Fetch {
  const waiting: (() => void)[] = [];
  /** Requests that have begun since the last turn that is known to have ended. */
  let begun = 0;
  let isWatching = false;

  const watch = () => {
    if (isWatching) return;
    isWatching = true;
    setImmediate(next);
  };
  const next = () => {
    isWatching = false;
    begun = 0;
    // Each in a task of its own: what a call has to do before another one may begin is done in the promises of that task.
    for (let count = Math.min(GROUP, waiting.length); count > 0; count--) setImmediate(beginOne);
    if (waiting.length > 0) watch();
  };
  const beginOne = () => {
    begun++;
    waiting.shift()?.();
  };
  return (request) => {
    // To watch each turn would cost every call an immediate: only a group of calls shows that they may be of one turn.
    if (waiting.length === 0 && begun < 2 * GROUP) {
      if (++begun >= GROUP) watch();
      return fetch(request);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    waiting.push(() => {
      try {
        resolve(fetch(request));
      } catch (thrown) {
        reject(thrown);
      }
    });
    return promise;
  };
}
