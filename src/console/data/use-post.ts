/** An answer of the admin API to a question that has a body, in a component: what-if, explain. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, send } from "./api.ts";
import type { Reading } from "./use-api.ts";

const BONES_AFTER = 150;

/**
 * Asks again when the body changes. What is there stays until the new answer.
 * @param to path below `/admin/v1`
 * @param body undefined: nothing is asked
 * @param options.wait milliseconds without a change before it is asked: for what a person types
 */
export function usePost<Answer>(to: string, body: unknown, options: { wait?: number } = {}): Reading<Answer> {
  const { wait = 0 } = options;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const [state, setState] = useState<Omit<Reading<Answer>, "again">>({
    data: undefined,
    error: undefined,
    busy: text !== undefined,
    slow: false,
    at: undefined,
  });
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((now) => now + 1), []);

  useEffect(() => {
    if (text === undefined) {
      setState({ data: undefined, error: undefined, busy: false, slow: false, at: undefined });
      return;
    }
    const stop = new AbortController();
    const bones = setTimeout(
      () => setState((now) => ({ ...now, slow: now.data === undefined })),
      wait + BONES_AFTER,
    );
    const ask = setTimeout(async () => {
      setState((now) => ({ ...now, busy: true }));
      try {
        const data = await send<Answer>("POST", to, { body: JSON.parse(text), signal: stop.signal });
        if (!stop.signal.aborted)
          setState({ data, error: undefined, busy: false, slow: false, at: Date.now() });
      } catch (cause) {
        if (stop.signal.aborted) return;
        const error = cause instanceof ApiError ? cause : new ApiError(0, "failed", String(cause));
        setState((now) => ({ ...now, error, busy: false, slow: false }));
      }
      clearTimeout(bones);
    }, wait);
    return () => {
      stop.abort();
      clearTimeout(ask);
      clearTimeout(bones);
    };
  }, [to, text, wait, turn]);

  return { ...state, again };
}
