/** A list of the admin API that grows by pages. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, anew } from "./api.ts";
import type { CallEntry, Calls } from "./types.ts";

export interface CallList {
  calls: readonly CallEntry[];
  /** The first page was read. */
  read: boolean;
  slow: boolean;
  busy: boolean;
  error: ApiError | undefined;
  /** More can be read. */
  more: boolean;
  /** Where the search has ended, if it looked at as many rows as it may. Milliseconds since 1970. */
  boundedAt: number | undefined;
  /** It has looked at as many rows as it may. */
  bounded: boolean;
  readMore: () => void;
  again: () => void;
}

const PAGE = 60;
const BONES_AFTER = 150;
const NOTHING: State = {
  of: undefined,
  calls: [],
  read: false,
  slow: false,
  busy: true,
  error: undefined,
  next: undefined,
  bounded: false,
};

interface State {
  /** The query that the calls answer. */
  of: string | undefined;
  calls: readonly CallEntry[];
  read: boolean;
  slow: boolean;
  busy: boolean;
  error: ApiError | undefined;
  next: string | undefined;
  bounded: boolean;
  searchedTo?: number;
}

/** @param query of `/calls`, beginning with `?`, without `limit` and `after` */
export function useCalls(query: string): CallList {
  const [state, setState] = useState<State>(NOTHING);
  const [turn, setTurn] = useState(0);
  const stop = useRef<AbortController | undefined>(undefined);

  // Records of several workers are committed in batches: within one the ends are not in order.
  const inOrder = (calls: readonly CallEntry[]) =>
    query.includes("sort=") ? calls : calls.toSorted((a, b) => b.startedAt + b.ms - a.startedAt - a.ms);

  const read = useCallback(
    async (after: string | undefined) => {
      stop.current?.abort();
      const mine = (stop.current = new AbortController());
      setState((now) => ({ ...now, busy: true }));
      try {
        const join = query === "" ? "?" : "&";
        const cursor = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
        const page = await get<Calls>(`/calls${query}${join}limit=${PAGE}${cursor}`, { signal: mine.signal });
        if (mine.signal.aborted) return;
        setState((now) => ({
          of: query,
          calls: after === undefined ? inOrder(page.calls) : [...now.calls, ...inOrder(page.calls)],
          read: true,
          slow: false,
          busy: false,
          error: undefined,
          next: page.next,
          bounded: page.bounded,
          ...(page.searchedTo !== undefined && { searchedTo: page.searchedTo }),
        }));
      } catch (cause) {
        if (mine.signal.aborted) return;
        const error = cause instanceof ApiError ? cause : new ApiError(0, "failed", String(cause));
        // Calls of another query are no answer to this one.
        setState((now) => ({ ...(now.of === query ? now : NOTHING), busy: false, slow: false, error }));
      }
    },
    [query],
  );

  useEffect(() => {
    const bones = setTimeout(
      () =>
        setState((now) => {
          const kept = now.of === query || !now.busy ? now : NOTHING;
          return { ...kept, slow: !kept.read };
        }),
      BONES_AFTER,
    );
    void read(undefined);
    return () => {
      clearTimeout(bones);
      stop.current?.abort();
    };
  }, [read, turn, anew.value]);

  const { next, searchedTo, calls, read: isRead, slow, busy, error, bounded } = state;
  return {
    ...{ calls, read: isRead, slow, busy, error, bounded },
    more: next !== undefined,
    boundedAt: searchedTo,
    readMore: () => void read(next),
    again: () => setTurn((now) => now + 1),
  };
}
