/** The present time for what counts on: ages, elapsed times, countdowns. */
import { signal } from "./signal.ts";

/** Changes once a second while the page is visible. Milliseconds since 1970. */
export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1_000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) now.value = Date.now();
  });
}
