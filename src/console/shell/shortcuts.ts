/** Keyboard shortcuts of the present page, and of the layer over it. */
import { signal } from "../data/signal.ts";

/** The layer over the page. */
export const overlay = signal<"palette" | "help" | undefined>(undefined);

/** Shortcuts of the present page: `j`, `k`, `o`, `p`, `Escape`. */
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
