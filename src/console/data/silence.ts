/** While weir does not answer: asks again by itself, so that the page goes on where it was. */
import { get, silentSince } from "./api.ts";
import { signal } from "./signal.ts";

/** When weir is asked again. Milliseconds since 1970; undefined while it answers, and while it is asked. */
export const nextTry = signal<number | undefined>(undefined);

const SECOND = 1_000;
const FIRST_WAIT = 2 * SECOND;
const LONGEST_WAIT = 30 * SECOND;

let wait = FIRST_WAIT;
let isAsking = false;

export function watchSilence(): void {
  setInterval(() => {
    if (silentSince.value === undefined) {
      wait = FIRST_WAIT;
      nextTry.value = undefined;
    } else if (nextTry.value !== undefined && Date.now() >= nextTry.value) void tryNow();
    else if (nextTry.value === undefined && !isAsking) {
      nextTry.value = Date.now() + wait;
      wait = Math.min(LONGEST_WAIT, wait * 2);
    }
  }, SECOND);
}

/** Asks at once. */
export async function tryNow(): Promise<void> {
  nextTry.value = undefined;
  isAsking = true;
  try {
    await get("/session");
  } catch {
    // Any answer, also an error, ends the silence.
  } finally {
    isAsking = false;
  }
}
