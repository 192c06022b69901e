/** Why a prompt was not read from a cache, in words, and the arithmetic of the page. */
import type { CacheBreak, CacheSession, CacheSums } from "../../data/types.ts";
import { duration } from "../../numbers/durations.ts";

type Reason = CacheBreak["reason"];

/** A reason without its call: the one that is commonest. */
interface Cause {
  reason: Reason;
  section?: string;
}

/** The change of a section, and its remedy. */
const WORDS: Readonly<Record<Reason, readonly [words: string, advice: string]>> = {
  changed: [
    "changed",
    "Put what changes with each call, such as a date or an id, behind what stays the same.",
  ],
  reordered: ["came in another order", "Sort them before each call."],
  expired: [
    "was forgotten",
    'The calls are further apart than the cache lasts. Where the provider offers it, ask for an hour: "ttl": "1h" in cache_control.',
  ],
  deployment: [
    "went to another deployment",
    "Deployments do not share caches. Give this model one deployment, and the others as fallbacks.",
  ],
  provider: ["was not read by the provider", "The prompt was the same, and the cache was young."],
};

/** The sign for an unknown section. */
export const WHOLE = "the prompt";

export const wordsOf = ({ reason }: Cause): string => WORDS[reason][0];

export const adviceOn = ({ reason }: Cause): string => WORDS[reason][1];

/** With the pause where that is the reason: `after 6 min 12 s`. */
export function pauseOf({ reason, afterMs }: CacheBreak): string | undefined {
  return reason === "expired" ? `after ${duration(afterMs)}` : undefined;
}

/** The share of the prompts that was read from a cache. */
export function readShare({
  input,
  cacheRead,
  cacheWrite,
}: Pick<CacheSums, "input" | "cacheRead" | "cacheWrite">): number | undefined {
  const all = input + cacheRead + cacheWrite;
  return all === 0 ? undefined : cacheRead / all;
}

type SessionCall = CacheSession["calls"][number];

/** Calls that are shown, or a number of calls without a break that are folded. */
export type Stretch = { call: SessionCall } | { folded: readonly SessionCall[] };

/** A fold hides at least this many calls. */
const LEAST_FOLD = 3;

/** Breaks with the call before each, the first and the last call; what lies between is folded. */
export function stretchesOf(calls: readonly SessionCall[]): Stretch[] {
  const stretches: Stretch[] = [];
  let hidden: SessionCall[] = [];
  const flush = () => {
    if (hidden.length >= LEAST_FOLD) stretches.push({ folded: hidden });
    else stretches.push(...hidden.map((call) => ({ call })));
    hidden = [];
  };
  calls.forEach((call, at) => {
    const isShown = call.break || calls[at + 1]?.break || at === 0 || at === calls.length - 1;
    if (!isShown) {
      hidden.push(call);
      return;
    }
    flush();
    stretches.push({ call });
  });
  flush();
  return stretches;
}
