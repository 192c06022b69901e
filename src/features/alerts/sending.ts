/** Alerts, and the webhooks that deliver them. */
import { hostname } from "node:os";
import { WALL_CLOCK } from "../../core/wall-clock.ts";
import { endsWithin } from "../../core/within.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import { VERSION } from "../../process/version.ts";
import { Alerts } from "./alerts.ts";
import { alertsSent } from "./metrics.ts";
import type { AlertTarget } from "./section.ts";
import { ALERT_RESULTS, Webhooks } from "./webhooks.ts";

/** Time for alerts that must be sent before the process ends. Milliseconds. */
const CLOSE_MS = 2_000;

export class Sending {
  readonly alerts: Alerts;
  readonly #webhooks: Webhooks;
  readonly #count: KeeperHost["count"];
  #text = "";

  constructor({ count, report }: Pick<KeeperHost, "count" | "report">) {
    this.#count = count;
    this.#webhooks = new Webhooks({
      sender: { host: hostname(), version: VERSION },
      clock: WALL_CLOCK,
      report,
      count: (result) => count(alertsSent, [result], 1),
    });
    this.alerts = new Alerts(WALL_CLOCK, (alert, target) => this.#webhooks.send(alert, target));
  }

  /** The receivers, after each start and reload; all workers say the same. */
  to(targets: readonly AlertTarget[]): void {
    const text = JSON.stringify(targets);
    if (text === this.#text) return;
    this.#text = text;
    this.alerts.targets = targets;
    // Series begin at zero: a rule on an increase would miss the first one.
    if (targets.length > 0) for (const result of ALERT_RESULTS) this.#count(alertsSent, [result], 0);
  }

  /** Sends what waits, as far as the receivers take it in time. */
  async close(): Promise<void> {
    this.alerts.close();
    await endsWithin(this.#webhooks.close(), CLOSE_MS);
  }
}
