/** What keys do on the present page, and what lies over it. */
import { signal } from "../data/signal.ts";

/** What lies over the page. */
export const overlay = signal<"palette" | "help" | undefined>(undefined);

/** What the keys of the present page do: `j`, `k`, `o`, `p`, `Escape`. */
export const handlers = new Map<string, () => void>();

/** Sets what a key does while a component is shown. @returns the undoing, for an effect */
export function onKey(key: string, handle: () => void): () => void {
  const before = handlers.get(key);
  handlers.set(key, handle);
  return () => {
    if (handlers.get(key) !== handle) return;
    if (before) handlers.set(key, before);
    else handlers.delete(key);
  };
}
