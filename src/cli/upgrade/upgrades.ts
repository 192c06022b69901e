/** The upgrades of a gateway: at most one at a time, and none that cannot succeed. */
import type { SignalOutcome } from "../../run/run-file.ts";
import { sentence } from "../worker.ts";
import { takeOrder } from "./order.ts";
import { handOver, type Owner } from "./succession.ts";

export class Upgrades {
  readonly #owner: Owner;
  readonly #before: Promise<void> | undefined;
  #hasLeft = false;

  /** @param before the gateway that this one follows does not listen any more */
  constructor(owner: Owner, before: Promise<void> | undefined) {
    this.#owner = owner;
    this.#before = before;
  }

  /** @param runFile path of the run file, beside which an order may lie */
  async run(runFile: string | undefined): Promise<SignalOutcome> {
    const order = takeOrder(runFile);
    try {
      if (this.#hasLeft) throw new Error("another gateway has taken the place of this one");
      if (process.pid === 1)
        throw new Error(
          "weir is the first process of its container, which ends with it; replace the container",
        );
      await this.#before;
      await handOver(this.#owner, order);
      this.#hasLeft = true;
      return {
        ok: true,
        message: "another process has taken the place of this gateway, which ends with its last answer",
      };
    } catch (cause) {
      return { ok: false, message: `the upgrade failed; the gateway runs on as before: ${sentence(cause)}` };
    }
  }
}
