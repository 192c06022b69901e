/** Looks on the schedule: of all nodes one makes each, within the budget of the day. */
import type { KeeperHost } from "../../keeper/seams.ts";
import { Judge } from "./judge/judge.ts";
import type { LookBound } from "./messages.ts";
import { witnessChanges, witnessLooks } from "./metrics.ts";
import type { Observation } from "./observation.ts";
import { type Change, claim, newestChanges, scheduledSince, spentSince, writeChanges } from "./rows.ts";
import type { WitnessSettings } from "./section.ts";

/** How often it looks whether a look is due. Milliseconds. */
const TICK_MS = 10_000;
const DAY_MS = 86_400_000;
/** What is older says nothing of now. Milliseconds. */
const MEMORY_MS = 400 * DAY_MS;
const MOST_CHANGES = 10_000;

export interface ScheduleParts {
  readonly host: Pick<KeeperHost, "read" | "write" | "warn" | "count" | "report">;
  /** @throws Error with a sentence */
  bound(models: readonly string[]): Promise<LookBound>;
  /** Makes the look that was claimed, and writes it. @throws Error with a sentence */
  look(models: readonly string[], slot: string): Promise<readonly Observation[]>;
  /** Milliseconds since 1970. */
  now(): number;
}

export class Schedule {
  readonly #parts: ScheduleParts;
  #settings: WitnessSettings | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #judge: Judge | undefined;
  #lastSlot: string | undefined;
  #running: Promise<void> | undefined;
  #said: string | undefined;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  /** The settings, after each start and reload; all workers say the same. */
  to(settings: WitnessSettings): void {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    this.#settings = settings;
    // Its limits depend on them.
    this.#judge = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (settings.models.length === 0) return;
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref?.();
    this.tick();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#settings = undefined;
    await this.#running;
  }

  /** Looks, if a look is due. */
  tick(): void {
    if (!this.#settings || this.#running) return;
    const settings = this.#settings;
    const at = this.#parts.now();
    const slot = `every-${Math.floor(at / settings.everyMs)}-${settings.everyMs}`;
    if (slot === this.#lastSlot) return;
    this.#running = this.#look(settings, slot, at)
      .catch((thrown: unknown) => this.#fails(thrown))
      .finally(() => (this.#running = undefined));
  }

  /** Resolves when no look runs. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #look({ models, everyMs, budget }: WitnessSettings, slot: string, at: number): Promise<void> {
    const { host, bound, look } = this.#parts;
    const { unpriced } = await bound(models);
    this.#lastSlot = slot;
    const priced = models.filter((model) => !unpriced.includes(model));
    if (unpriced.length > 0)
      this.#say(
        `the price of ${unpriced.join(", ")} is not known, so that no look fits into the budget; see prices`,
      );
    if (priced.length === 0) return host.count(witnessLooks, ["left_out"], 1);
    const { cost = 0 } = await bound(priced);
    const day = at - (at % DAY_MS);
    const claimed = await host.write(async (sql) => {
      const isIn = (await spentSince(sql, day)) + cost <= budget;
      return isIn ? ((await claim(sql, slot, at, cost)) ? "ours" : "theirs") : "dear";
    });
    if (claimed === "dear") {
      this.#say("the budget of the day has no room for a look; the next one is on the next day");
      return host.count(witnessLooks, ["left_out"], 1);
    }
    if (claimed === "theirs") return;
    const judge = (this.#judge ??= await this.#remembered(models.length, everyMs));
    const observations = await look(priced, slot);
    await this.#found(judge.judge(observations));
    host.count(witnessLooks, ["made"], 1);
  }

  async #remembered(models: number, everyMs: number): Promise<Judge> {
    const since = this.#parts.now() - MEMORY_MS;
    const judge = new Judge(models, everyMs);
    const [looks, changes] = await this.#parts.host.read(async (sql) => [
      await scheduledSince(sql, since),
      await newestChanges(sql, MOST_CHANGES),
    ]);
    const known = new Set(changes.map(({ id }) => id));
    for (const look of Map.groupBy(looks, ({ at }) => at).values()) judge.replay(look, known);
    return judge;
  }

  async #found(changes: readonly Change[]): Promise<void> {
    const { host } = this.#parts;
    if (changes.length === 0) return;
    await host.write((sql) => writeChanges(sql, changes));
    for (const { id, model, kind, words, evidence, observation, since } of changes) {
      const [provider = ""] = model.split("/", 1);
      host.count(witnessChanges, [provider, model.slice(provider.length + 1), kind], 1);
      host.warn({
        ...{ event: "witness", condition: id, subject: model, isOver: false },
        message: `${model} has changed (${kind}): ${words}; weir asked the same in the same way`,
        facts: { provider, model, kind, evidence, observation, since: new Date(since).toISOString() },
      });
    }
  }

  #fails(thrown: unknown): void {
    this.#parts.host.count(witnessLooks, ["failed"], 1);
    this.#say(`a look failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }

  /** Logs a sentence that differs from the last one. */
  #say(sentence: string): void {
    if (sentence === this.#said) return;
    this.#said = sentence;
    this.#parts.host.report(`witness: ${sentence}`);
  }
}
