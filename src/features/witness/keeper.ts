/** The part in the keeper: it has looks made, by the schedule and by the command, and writes what they saw. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { Asks } from "./asks.ts";
import type { LookBound, WitnessDown, WitnessUp } from "./messages.ts";
import type { Draft, Observation } from "./observation.ts";
import { append, claim, settle } from "./rows.ts";
import type { Schedule } from "./schedule.ts";
import type { WitnessSettings } from "./section.ts";
import { witnessPart } from "./slots.ts";

export function start(host: KeeperHost): KeeperPart<WitnessUp, WitnessDown> {
  return new WitnessKeeper(host);
}

class WitnessKeeper implements KeeperPart<WitnessUp, WitnessDown> {
  readonly #host: KeeperHost;
  readonly #asks = new Asks();
  #settings: WitnessSettings | undefined;
  /** Its code is loaded when a config names models. */
  #schedule: Promise<Schedule> | undefined;

  constructor(host: KeeperHost) {
    this.#host = host;
    witnessPart.set(host.offers, {
      models: () => (this.#asks.hasWorker ? (this.#settings?.models ?? []) : undefined),
      bound: (models) => this.#bound(models),
      look: (models) => this.#lookNow(models),
    });
  }

  connect(send: (message: WitnessDown) => void) {
    this.#asks.connect(send);
    return {
      receive: (message: WitnessUp) => {
        if ("settings" in message) this.#to(message.settings);
        else if ("answer" in message) this.#asks.received(message.number, message.answer);
      },
      ended: () => this.#asks.gone(send),
    };
  }

  async close(): Promise<void> {
    await (await this.#schedule)?.close();
  }

  #to(settings: WitnessSettings): void {
    this.#settings = settings;
    if (settings.models.length > 0) this.#schedule ??= this.#loadSchedule();
    void this.#schedule?.then((schedule) => schedule.to(settings));
  }

  async #loadSchedule(): Promise<Schedule> {
    const { Schedule } = await import("./schedule.ts");
    return new Schedule({
      host: this.#host,
      bound: (models) => this.#bound(models),
      look: (models, slot) => this.#look(models, slot, "schedule"),
      now: Date.now,
    });
  }

  async #bound(models: readonly string[]): Promise<LookBound> {
    const answer = await this.#asks.ask((number) => ({ number, bound: { models } }));
    if ("bound" in answer) return answer.bound;
    throw new Error("fault" in answer ? answer.fault : "No bound was found.");
  }

  /** A person has seen the bound: the budget of the schedule does not hold. */
  async #lookNow(models: readonly string[]): Promise<readonly Observation[]> {
    const { cost = 0 } = await this.#bound(models);
    const slot = `now-${crypto.randomUUID()}`;
    await this.#host.write((sql) => claim(sql, slot, Date.now(), cost));
    return this.#look(models, slot, "command");
  }

  async #look(models: readonly string[], slot: string, by: Draft["by"]): Promise<readonly Observation[]> {
    const answer = await this.#asks.ask((number) => ({ number, look: { models, by } }));
    if (!("drafts" in answer)) throw new Error("fault" in answer ? answer.fault : "Nothing was seen.");
    const { drafts } = answer;
    const spent = drafts.reduce((sum, draft) => sum + draft.cost, 0);
    return this.#host.write(async (sql) => {
      await settle(sql, slot, spent);
      return append(sql, drafts);
    });
  }
}
