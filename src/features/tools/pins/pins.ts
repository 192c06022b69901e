/** Pins in a worker: what the store has approved, and the way of lists to the keeper. */
import type { Channel } from "../../../core/channel.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Replica } from "../../../core/replica.ts";
import type { SeenList, ToolsUp } from "../messages.ts";
import { Approved } from "./approved.ts";
import { DeclaredPins } from "./declared.ts";
import type { ApprovedPins } from "./compare.ts";
import type { PinMode } from "./declarations.ts";
import { pinsIn, type PinsRow } from "./rows.ts";

/** How long a list waits for the first rows, and between two looks. Milliseconds. */
const WAIT_MS = 4_000;
const LOOK_MS = 20;

export class Pins {
  readonly #rows: Replica<PinsRow>;
  readonly #keeper: Pick<Channel<ToolsUp, never>, "isUp" | "send">;
  readonly #approved = new Approved();
  readonly #declared: DeclaredPins;
  #known: ApprovedPins | undefined;
  /** The last list of each server. */
  readonly #lists = new Map<string, SeenList>();
  readonly #listeners: (() => void)[] = [];

  /** @param rows of the table `tools_pins` @param fault logs a sentence */
  constructor(
    rows: Replica<PinsRow>,
    keeper: Pick<Channel<ToolsUp, never>, "isUp" | "send">,
    fault: (sentence: string) => void,
  ) {
    this.#rows = rows;
    this.#keeper = keeper;
    this.#declared = new DeclaredPins(fault, () => {
      this.#renew();
      for (const list of this.#lists.values()) this.report(list);
    });
    rows.listen(() => this.#renew());
  }

  /** A config serves. @param file of pins, which count in place of those of the store @param servers their names */
  configure(file: string | undefined, servers: readonly string[]): void {
    this.#declared.configure(file, servers);
  }

  #renew(): void {
    this.#known = undefined;
    for (const changed of this.#listeners) changed();
  }

  /** What is approved, as plain data; undefined until the worker has had all rows once, if those of the store count. */
  approvedOf(): ApprovedPins | undefined {
    const declared = this.#declared.pins;
    if (!this.#rows.isComplete && !declared) return undefined;
    if (!this.#known) {
      const stored = [...this.#rows.values()].map((row) => [row.id, pinsIn(row)] as const);
      this.#known = { ...Object.fromEntries(stored), ...declared };
      this.#approved.update(this.#known);
    }
    return this.#known;
  }

  /** The same, once it is known; undefined if the keeper does not answer for some seconds. */
  async ready(): Promise<ApprovedPins | undefined> {
    for (let waited = 0; !this.approvedOf() && waited < WAIT_MS; waited += LOOK_MS) await Bun.sleep(LOOK_MS);
    return this.approvedOf();
  }

  /** From now on called when something else is approved. */
  listen(changed: () => void): void {
    this.#listeners.push(changed);
  }

  /**
   * What clients may see of a list, and call. The keeper hears of the list.
   * @param definitions all that the server listed; the same array until it lists again
   * @throws McpError while it is not known what is approved
   */
  visible(server: string, definitions: readonly JsonObject[], mode: PinMode): readonly JsonObject[] {
    this.approvedOf();
    const visible = this.#approved.shown(server, definitions, mode);
    this.report({ server, definitions, mode });
    return visible;
  }

  /** Tells the keeper of a list, once; of one that comes while it is away, when it is back. */
  report({ server, definitions, mode }: Omit<SeenList, "pins">): void {
    const last = this.#lists.get(server);
    const { pins: all } = this.#declared;
    const pins = all && Object.hasOwn(all, server) ? all[server] : undefined;
    // The config does not have it any more.
    if (all && !pins) return;
    if (last?.definitions === definitions && last.mode === mode && last.pins === pins) return;
    const seen = { server, definitions, mode, ...(pins && { pins }) };
    this.#lists.set(server, seen);
    if (this.#keeper.isUp) this.#keeper.send({ seen });
  }

  /** The keeper is another one: it may have none of the lists. */
  up(): void {
    for (const seen of this.#lists.values()) this.#keeper.send({ seen });
  }
}
