/** The part in a process that serves calls: it looks at models when the keeper says so. Its code is loaded then. */
import type { Channel } from "../../core/channel.ts";
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { WitnessAnswer, WitnessDown, WitnessUp } from "./messages.ts";
import { settingsOf, type WitnessSettings } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new WitnessWorker(host);

class WitnessWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #channel: Channel<WitnessUp, WitnessDown>;
  #settings: WitnessSettings | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#channel = host.channel();
    this.#channel.listen({
      up: () => this.#tell(),
      down: () => {},
      message: (message) => void this.#answer(message),
    });
  }

  seams(): undefined {}

  serves(config: object): void {
    this.#settings = settingsOf(config);
    this.#tell();
  }

  startLines(config: object): readonly string[] {
    const { models, everyMs } = settingsOf(config);
    return models.length === 0 ? [] : [`witness: ${models.length} models every ${everyMs / 60_000} min`];
  }

  #tell(): void {
    if (this.#settings) this.#send({ settings: this.#settings });
  }

  #send(message: WitnessUp): void {
    if (this.#channel.isUp) this.#channel.send(message);
  }

  async #answer(message: WitnessDown): Promise<void> {
    let answer: WitnessAnswer;
    try {
      answer = await this.#answerTo(message);
    } catch (thrown) {
      answer = { fault: thrown instanceof Error ? thrown.message : String(thrown) };
    }
    this.#send({ number: message.number, answer });
  }

  async #answerTo(message: WitnessDown): Promise<WitnessAnswer> {
    const { outputTokens, key } = this.#settings!;
    const principal = await this.#payer(key);
    const common = { outputTokens, principal };
    if ("bound" in message) {
      const { boundOf } = await import("./look/bound.ts");
      return { bound: await boundOf(this.#host, { ...message.bound, ...common }) };
    }
    const { look } = await import("./look/look.ts");
    return { drafts: await look(this.#host, { ...message.look, ...common }) };
  }

  /** The key of the option, else a caller of the feature's own: calls without one are refused where keys are needed. */
  async #payer(key: string | undefined) {
    if (key === undefined) return this.#host.principal({ id: "witness", name: "witness", path: "/" });
    const found = this.#host.callerOfKey(key);
    if (found) return found;
    throw new Error(`The key ${key} of witness admits no calls, or is not known.`);
  }
}
