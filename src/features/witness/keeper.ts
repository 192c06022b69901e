/** The part in the keeper: it has looks made, by the schedule and by the command, and writes what they saw. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { Asks } from "./asks.ts";
import type { LookBound, WitnessDown, WitnessUp } from "./messages.ts";
import { append, type Change, claim, settle } from "./rows.ts";
import { witnessPart } from "./slots.ts";
import type { WitnessSettings } from "./section.ts";
import type { Observation } from "./observation.ts";

export function start(host: KeeperHost): KeeperPart<WitnessUp, WitnessDown> {
  return new WitnessKeeper(host);
}

interface Looked {
  readonly observations: readonly Observation[];
  readonly changes: readonly Change[];
}

class WitnessKeeper implements KeeperPart<WitnessUp, WitnessDown> {
  readonly #host: KeeperHost;
  readonly #asks = new Asks();
  #settings: WitnessSettings | undefined;

  constructor(host: KeeperHost) {
    this.#host = host;
    witnessPart.set(host.offers, {
      models: () => (this.#asks.hasWorker ? (this.#settings?.models ?? []) : undefined),
      bound: (models) => this.#bound(models),
      look: (models) => this.#look(models, `now-${crypto.randomUUID()}`),
    });
  }

  connect(send: (message: WitnessDown) => void) {
    this.#asks.connect(send);
    return {
      receive: (message: WitnessUp) => {
        if ("settings" in message) this.#settings = message.settings;
        else if ("answer" in message) this.#asks.received(message.number, message.answer);
      },
      ended: () => this.#asks.gone(send),
    };
  }

  async #bound(models: readonly string[]): Promise<LookBound> {
    const answer = await this.#asks.ask((number) => ({ number, bound: { models } }));
    if ("bound" in answer) return answer.bound;
    throw new Error("fault" in answer ? answer.fault : "No bound was found.");
  }

  async #look(models: readonly string[], slot: string): Promise<Looked> {
    const { cost = 0 } = await this.#bound(models);
    await this.#host.write((sql) => claim(sql, slot, Date.now(), cost));
    const answer = await this.#asks.ask((number) => ({ number, look: { models } }));
    if (!("drafts" in answer)) throw new Error("fault" in answer ? answer.fault : "Nothing was seen.");
    const { drafts } = answer;
    const observations = await this.#host.write(async (sql) => {
      await settle(
        sql,
        slot,
        drafts.reduce((sum, draft) => sum + draft.cost, 0),
      );
      return append(sql, drafts);
    });
    return { observations, changes: [] };
  }
}
