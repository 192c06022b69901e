/** An answer of the admin API in a component. What is there stays while it is read again. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { anew, ApiError, get } from "./api.ts";
import type { AnswerOf, Contract, FilledIn } from "./types.ts";

export interface Reading<Answer> {
  /** The newest answer; of the query before for the first 150 ms of another one. */
  data: Answer | undefined;
  /** Why the last request failed. */
  error: ApiError | undefined;
  /** A request runs. */
  busy: boolean;
  /** A request has run for 150 ms without any data to show: show bones. */
  slow: boolean;
  /** When `data` was read. Milliseconds since 1970. */
  at: number | undefined;
  /** Reads it again. */
  again: () => void;
}

type Reader = <Answer>(to: string, options: { signal?: AbortSignal }) => Promise<Answer>;

const BONES_AFTER = 150;

/** Figures of another query are none of this one. */
function slowly<Of extends { data: unknown }>(now: Of, isSame: boolean): Of {
  const data = isSame ? now.data : undefined;
  return { ...now, data, slow: data === undefined };
}

/** An answer to another question is none to this one. */
function failedAt<Of extends object>(now: Of, isOld: boolean): Of {
  return isOld ? { ...now, data: undefined, at: undefined } : now;
}

/**
 * Reads an answer, and reads it again when `to` changes.
 * @param to path below `/admin/v1` with its query; undefined: nothing is read
 * @param options.every milliseconds after which it is read again while the page is visible
 * @param options.wait milliseconds without another `to` before it is read
 * @param options.read reads in another way, such as `getAll`; always the same function
 */
export function useReading<Answer>(
  to: string | undefined,
  options: { every?: number; wait?: number; read?: Reader } = {},
): Reading<Answer> {
  const { every, wait = 0, read: reader = get } = options;
  const [state, setState] = useState<Omit<Reading<Answer>, "again">>({
    data: undefined,
    error: undefined,
    busy: to !== undefined,
    slow: false,
    at: undefined,
  });
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((now) => now + 1), []);
  const shown = useRef<string | undefined>(undefined);

  useEffect(() => {
    if (to === undefined) return;
    const stop = new AbortController();
    let next: ReturnType<typeof setTimeout> | undefined;
    const bones = setTimeout(() => setState((now) => slowly(now, shown.current === to)), wait + BONES_AFTER);
    const later = () => {
      if (every !== undefined && !stop.signal.aborted) next = setTimeout(() => void read(), every);
    };
    const read = async () => {
      if (document.hidden && shown.current === to) return later();
      setState((now) => ({ ...now, busy: true }));
      try {
        const data = await reader<Answer>(to, { signal: stop.signal });
        if (stop.signal.aborted) return;
        shown.current = to;
        setState({ data, error: undefined, busy: false, slow: false, at: Date.now() });
      } catch (cause) {
        if (stop.signal.aborted) return;
        const error = cause instanceof ApiError ? cause : new ApiError(0, "failed", String(cause));
        const isOld = shown.current !== to;
        setState((now) => ({ ...failedAt(now, isOld), error, busy: false, slow: false }));
      }
      clearTimeout(bones);
      later();
    };
    if (wait > 0) next = setTimeout(() => void read(), wait);
    else void read();
    return () => {
      stop.abort();
      clearTimeout(bones);
      clearTimeout(next);
    };
  }, [to, every, wait, turn, reader, anew.value]);

  return { ...state, again };
}

/** The same for a reading operation: the contract types its path and its answer. */
export const useApi: <Said extends Contract>(
  to: FilledIn<Said> | undefined,
  options?: Parameters<typeof useReading>[1],
) => Reading<AnswerOf<Said>> = useReading;
