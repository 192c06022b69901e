/** Decides after each look of the schedule whether a provider changed, by tests whose error holds over all looks. */
import { type Difference, differences, type Kind } from "../differences.ts";
import { canonical, type Observation, sha256 } from "../observation.ts";
import { GROUPS } from "../questions.ts";
import type { Change } from "../rows.ts";
import { CategorySeries, RankSeries, type Shift } from "../stats/series.ts";
import { windowsAt } from "../stats/windows.ts";
import { EXACT, type Reference } from "./exact.ts";
import { LEAST_ANSWERS, LEAST_EXACT, LEAST_SPEED, limitsOf, type Limits, SPEEDS } from "./limits.ts";
import { Blocks, relativeSpeeds } from "./speeds.ts";
import { answerWords, evidenceOf, speedWords } from "./words.ts";

/** A look at all models of the config. */
export type Look = readonly Observation[];

/** What is remembered of one test while weir's own side stays the same. */
interface Epoch<Kept> {
  /** Hash of weir's own side. */
  readonly own: string;
  /** The first observation. */
  readonly first: Observation;
  /** Times of the steps. */
  readonly times: number[];
  readonly kept: Kept;
}

interface Answers {
  readonly [group: string]: CategorySeries;
}

interface Exact {
  readonly reference: Reference;
  readonly series: CategorySeries;
}

interface Found {
  readonly kind: Kind;
  readonly words: string;
  readonly since: number;
  readonly shift: Shift;
}

export class Judge {
  readonly #limits: Limits;
  readonly #epochs = new Map<string, Epoch<unknown>>();

  /** @param models number of models @param everyMs milliseconds between two looks */
  constructor(models: number, everyMs: number) {
    this.#limits = limitsOf(models, everyMs);
  }

  /** Takes a look of the past over: what was found then is known. */
  replay(look: Look, changes: ReadonlySet<string>): void {
    this.#take(look, (stream, observation) => changes.has(changeId(stream, observation)), undefined);
  }

  /** @returns the changes for which this look was enough */
  judge(look: Look): Change[] {
    const found: Change[] = [];
    this.#take(look, () => false, found);
    return found;
  }

  #take(
    look: Look,
    ended: (stream: string, observation: Observation) => boolean,
    changes: Change[] | undefined,
  ): void {
    const speeds = relativeSpeeds(look);
    const all = look.map(({ own }) => ownHash(own)).join();
    for (const [index, observation] of look.entries()) {
      const done = (stream: string, found: Found | undefined) => {
        if (found && changes) changes.push(changeOf(stream, observation, found));
        if (found ?? ended(stream, observation)) this.#epochs.delete(`${observation.model} ${stream}`);
      };
      const decides = changes !== undefined;
      for (const fact of EXACT) done(fact.name, this.#exact(fact, observation, decides));
      done("answers", this.#answers(observation, decides));
      for (const speed of SPEEDS)
        done(speed, this.#speed(speed, observation, speeds[index]![speed], all, decides));
    }
  }

  #exact(
    { name, questions, differs }: (typeof EXACT)[number],
    observation: Observation,
    decides: boolean,
  ): Found | undefined {
    const own = ownHash(observation.own, questions);
    const epoch = this.#epoch<Exact>(name, observation, own, () => ({
      reference: { numbers: new Map() },
      series: new CategorySeries(2),
    }));
    const { reference, series } = epoch.kept;
    const isOther = differs(reference, observation.seen);
    if (isOther === undefined) return undefined;
    series.push(isOther ? 1 : 0);
    epoch.times.push(observation.at);
    // Only a look that differs can be the last one of a window with too many of them.
    if (!decides || !isOther) return undefined;
    for (const length of windowsAt(series.length, LEAST_EXACT)) {
      const shift = series.compare(length, this.#limits.exact);
      if (!shift) continue;
      const [difference] = differencesOf(name, epoch.first, observation);
      if (!difference) continue;
      const { kind, words } = difference;
      return { kind, words, since: epoch.times.at(-length)!, shift };
    }
    return undefined;
  }

  #answers(observation: Observation, decides: boolean): Found | undefined {
    const { answers } = observation.seen;
    const epoch = this.#epoch<Answers>("answers", observation, ownHash(observation.own), () =>
      Object.fromEntries(GROUPS.map(({ name, size }) => [name, new CategorySeries(size)])),
    );
    epoch.times.push(observation.at);
    for (const group of GROUPS)
      for (const word of answersOf(group.name, answers)) epoch.kept[group.name]!.push(group.categoryOf(word));
    if (!decides) return undefined;
    for (const length of windowsAt(epoch.times.length, LEAST_ANSWERS))
      for (const { name, perLook } of GROUPS) {
        const series = epoch.kept[name]!;
        // Answers may be missing.
        if (series.length <= perLook * length) continue;
        const shift = series.compare(perLook * length, this.#limits.answers.get(name)!);
        if (!shift) continue;
        return { kind: "behaviour", words: answerWords(name, shift), since: epoch.times.at(-length)!, shift };
      }
    return undefined;
  }

  /** @param all own sides of all models: the speed is relative to that of the others */
  #speed(
    speed: (typeof SPEEDS)[number],
    observation: Observation,
    value: number | undefined,
    all: string,
    decides: boolean,
  ): Found | undefined {
    const epoch = this.#epoch(speed, observation, all, () => new Blocks(new RankSeries()));
    if (value === undefined) return undefined;
    const blocks = epoch.kept;
    if (!blocks.add(observation.at, value)) return undefined;
    epoch.times.push(blocks.lastAt);
    if (!decides) return undefined;
    for (const length of windowsAt(blocks.series.length, LEAST_SPEED)) {
      const shift = blocks.series.compare(length, this.#limits.speed);
      if (!shift) continue;
      const kind = speed === "firstByteMs" ? "latency" : "rate";
      return { kind, words: speedWords(kind, shift), since: epoch.times.at(-length)!, shift };
    }
    return undefined;
  }

  /** What is remembered of a test of a model; it starts again where weir's own side is another one. */
  #epoch<Kept>(stream: string, first: Observation, own: string, make: () => Kept): Epoch<Kept> {
    const name = `${first.model} ${stream}`;
    const known = this.#epochs.get(name);
    if (known?.own === own) return known as Epoch<Kept>;
    const epoch: Epoch<Kept> = { own, first, times: [], kept: make() };
    this.#epochs.set(name, epoch);
    return epoch;
  }
}

const hashes = new WeakMap<Observation["own"], Map<string, string>>();

/** Hash of weir's own side. @param questions those whose requests count; absent: all */
export function ownHash(own: Observation["own"], questions?: readonly string[]): string {
  let known = hashes.get(own);
  if (!known) hashes.set(own, (known = new Map()));
  const name = questions ? questions.join() : "all";
  let hash = known.get(name);
  if (hash === undefined) known.set(name, (hash = hashOf(own, questions)));
  return hash;
}

function hashOf(
  { version, plugins, provider, requests }: Observation["own"],
  questions?: readonly string[],
): string {
  const counted = questions ? Object.fromEntries(questions.map((id) => [id, requests[id] ?? ""])) : requests;
  return sha256(canonical({ version, plugins, provider, requests: { ...counted } }));
}

const FACT_OF: Readonly<Record<string, readonly Kind[]>> = {
  tokens: ["tokenizer", "prompt"],
  price: ["price"],
};

/** The differences that a test of this name is about. */
function differencesOf(name: string, first: Observation, now: Observation): Difference[] {
  const kinds = FACT_OF[name];
  const facts = { [name]: first.seen.facts[name]! };
  const only = (facts: Readonly<Record<string, string>>) => ({ facts, tokens: {}, prices: {} });
  if (kinds)
    return differences({ ...first.seen, facts: {} }, { ...now.seen, facts: {} }).filter(({ kind }) =>
      kinds.includes(kind),
    );
  return differences(
    { ...first.seen, ...only(facts) },
    { ...now.seen, ...only({ [name]: now.seen.facts[name]! }) },
  );
}

function answersOf(group: string, answers: Observation["seen"]["answers"]): string[] {
  return Object.entries(answers).flatMap(([id, word]) => (id.replace(/-\d+$/, "") === group ? [word] : []));
}

const changeId = (stream: string, { id }: Observation) => `${stream}-${id}`;

function changeOf(stream: string, observation: Observation, { kind, words, since, shift }: Found): Change {
  const { id, at, model } = observation;
  const evidence = evidenceOf(shift);
  return {
    id: changeId(stream, observation),
    observation: id,
    at,
    since,
    model,
    kind,
    stream,
    words,
    evidence,
  };
}
