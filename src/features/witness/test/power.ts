/** How many looks the tests need for a change, stated before: hourly looks at four models, after 60 days without a change. */
import { Judge } from "../judge/judge.ts";
import type { Change } from "../rows.ts";
import { seeded } from "./host.ts";
import { HOUR_MS, normal, observe, type Simulated } from "./simulated.ts";

const MODELS = ["one/m", "two/m", "three/m", "four/m"];
/** Looks before the change. */
const BEFORE = 60 * 24;

export interface Promised {
  readonly name: string;
  readonly change: Simulated;
  readonly kinds: readonly string[];
  /** Looks within which nine of ten such changes are found. */
  readonly looks: number;
}

export const POWER: readonly Promised[] = [
  { name: "one token more", change: { tokenizer: true }, kinds: ["tokenizer"], looks: 4 },
  { name: "a hidden prompt of 30 tokens", change: { hidden: 30 }, kinds: ["prompt"], looks: 4 },
  { name: "another order of events", change: { order: true }, kinds: ["events"], looks: 4 },
  { name: "another price", change: { price: 130 }, kinds: ["price"], looks: 4 },
  {
    name: "another model in 40 % of the calls",
    change: { otherShare: 0.4 },
    kinds: ["behaviour"],
    looks: 36,
  },
  {
    name: "another model in 20 % of the calls",
    change: { otherShare: 0.2 },
    kinds: ["behaviour"],
    looks: 96,
  },
  {
    name: "another model in 10 % of the calls",
    change: { otherShare: 0.1 },
    kinds: ["behaviour"],
    looks: 288,
  },
  {
    name: "another model in 5 % of the calls",
    change: { otherShare: 0.05 },
    kinds: ["behaviour"],
    looks: 1_632,
  },
  { name: "twice as slow", change: { slower: 2 }, kinds: ["latency", "rate"], looks: 97 },
  { name: "slower by half", change: { slower: 1.5 }, kinds: ["latency", "rate"], looks: 97 },
  { name: "slower by a fifth", change: { slower: 1.2 }, kinds: ["latency", "rate"], looks: 289 },
];

export interface Trial {
  /** The first change that the judge found; absent: none within the looks. */
  readonly found?: Change;
  /** Looks since the change. */
  readonly looks: number;
}

/** Changes the first provider, and looks until the judge says something. @param most looks after the change */
export function trial({ change }: Promised, seed: number, most: number): Trial {
  const random = seeded(seed);
  const judge = new Judge(MODELS.length, HOUR_MS);
  const isPriced = change.price !== undefined;
  // What concerns one model alone needs no looks at the others.
  const models = change.slower === undefined ? MODELS.slice(0, 1) : MODELS;
  let machine = 0;
  for (let hour = 0; hour < BEFORE + most; hour++) {
    machine = 0.9 * machine + 0.2 * normal(random);
    const look = models.map((model, index) => {
      const nature = index === 0 && hour >= BEFORE ? change : isPriced ? { price: 100 } : {};
      return observe(model, nature, { hour, random }, machine);
    });
    const [found] = judge.judge(look);
    if (found) return { found, looks: hour - BEFORE + 1 };
  }
  return { looks: most };
}

if (import.meta.main) {
  const trials = Number(process.argv[2] ?? 20);
  for (const promised of POWER) {
    const done = Array.from({ length: trials }, (_, at) => trial(promised, at * 31 + 7, 2_400));
    const looks = done.map((one) => (one.found ? one.looks : Infinity)).sort((a, b) => a - b);
    const kinds = [...new Set(done.map(({ found }) => found?.kind ?? "none"))];
    console.log(
      promised.name,
      looks[trials >> 1],
      looks[Math.ceil(trials * 0.9) - 1],
      looks.at(-1),
      kinds.join(),
    );
  }
}
