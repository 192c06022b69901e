/** How many calls have ended since a list was read. */
import { API } from "./api.ts";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { LiveCalls } from "./types.ts";

/**
 * @param filter query of the admin API, without a range; undefined: nothing is counted
 * @returns the number, and the function that resets
 */
export function useNewer(filter: string | undefined): readonly [number, () => void] {
  const [newer, setNewer] = useState(0);
  const restart = useCallback(() => setNewer(0), []);
  useEffect(() => {
    restart();
    if (filter === undefined) return;
    // While weir is away, the browser connects again by itself.
    const source = new EventSource(`${API}/calls/live${filter}`);
    source.addEventListener("calls", (message) => {
      const { matched } = JSON.parse((message as MessageEvent<string>).data) as LiveCalls;
      setNewer((now) => now + matched);
    });
    return () => source.close();
  }, [filter]);
  return [newer, restart];
}
