/** Alerts, and the webhooks that deliver them. */
import { hostname } from "node:os";
import { WALL_CLOCK } from "../../core/wall-clock.ts";
import { endsWithin } from "../../core/within.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import { VERSION } from "../../process/version.ts";
import { placeOf } from "../../http/post.ts";
import type { Alert } from "./alert.ts";
import { Alerts } from "./alerts.ts";
import { DeliveryBook } from "./book.ts";
import { alertsSent } from "./metrics.ts";
import { type Delivery, webhookId } from "./rows.ts";
import type { AlertTarget } from "./section.ts";
import type { SentTest } from "./slots.ts";
import { ALERT_RESULTS, type Progress, Webhooks } from "./webhooks.ts";

/** Time for alerts that must be sent before the process ends. Milliseconds. */
const CLOSE_MS = 2_000;

export class Sending {
  readonly alerts: Alerts;
  readonly #webhooks: Webhooks;
  readonly #count: KeeperHost["count"];
  readonly #book: DeliveryBook;
  readonly #node = hostname();
  #text = "";

  constructor({ count, report, write }: Pick<KeeperHost, "count" | "report" | "write">) {
    this.#count = count;
    this.#book = new DeliveryBook({ write, clock: WALL_CLOCK, node: this.#node });
    this.#webhooks = new Webhooks({
      sender: { host: this.#node, version: VERSION },
      clock: WALL_CLOCK,
      report,
      count: (result) => count(alertsSent, [result], 1),
      note: (alert, target, progress) => this.#book.note(this.#deliveryOf(alert, target, progress)),
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

  /** Deliveries that the store does not have yet. */
  get unsaved(): readonly Delivery[] {
    return this.#book.unsaved;
  }

  /** Sends a test to each of these receivers, once. */
  async test(targets: readonly AlertTarget[]): Promise<SentTest> {
    const alert: Alert = {
      id: `alert_${crypto.randomUUID()}`,
      ...{ event: "test", state: "reached", at: WALL_CLOCK.wall(), subject: "gateway" },
      message: "this is a test; nothing has happened",
      facts: {},
    };
    const sent = targets.map(async (target) => {
      const { result, reason } = await this.#webhooks.once(alert, target);
      return {
        ...{ webhook: webhookId(target.url), delivered: result === "delivered" },
        ...(reason !== undefined && { reason }),
      };
    });
    return { id: alert.id, sent: await Promise.all(sent) };
  }

  /** Sends what waits, as far as the receivers take it in time. */
  async close(): Promise<void> {
    this.alerts.close();
    await endsWithin(this.#webhooks.close(), CLOSE_MS);
    await endsWithin(this.#book.close(), CLOSE_MS);
  }

  #deliveryOf(alert: Alert, { url }: AlertTarget, progress: Progress): Delivery {
    const { facts: _, ...said } = alert;
    return {
      ...said,
      ...{ webhook: webhookId(url), place: placeOf(url), node: this.#node },
      ...{ ...progress, triedAt: WALL_CLOCK.wall() },
    };
  }
}
