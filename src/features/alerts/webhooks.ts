/** Delivers alerts: each is repeated with growing pauses until its receiver has it. */
import type { AlertTarget } from "./section.ts";
import { type Alert, alertBody, type Sender, signatureHeaders } from "./alert.ts";
import type { WallClock } from "../../core/wall-clock.ts";
import { placeOf, type Post, post } from "../../http/post.ts";

/** Before each repetition. Milliseconds. */
const PAUSES = [2_000, 10_000, 60_000, 300_000, 1_800_000];
/** Alerts that wait; further ones are lost. */
const MAX_WAITING = 200;

export const ALERT_RESULTS = ["delivered", "lost"] as const;
export type AlertResult = (typeof ALERT_RESULTS)[number];

export interface WebhookOptions {
  sender: Sender;
  clock: WallClock;
  /** Writes a sentence to the log. */
  report(text: string): void;
  count(result: AlertResult): void;
  post?: Post;
}

export class Webhooks {
  readonly #options: WebhookOptions;
  /** The end of the pause of each alert that waits. */
  readonly #waiting = new Set<{ wake: () => void }>();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  send(alert: Alert, target: AlertTarget): void {
    if (this.#running.size >= MAX_WAITING) return this.#lose(alert, target, "too many alerts wait");
    const delivery = this.#deliver(alert, target).finally(() => this.#running.delete(delivery));
    this.#running.add(delivery);
  }

  /** Each alert that waits gets a last attempt. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { wake } of this.#waiting) wake();
    await Promise.all(this.#running);
  }

  async #deliver(alert: Alert, target: AlertTarget): Promise<void> {
    const { sender, clock, count, report } = this.#options;
    const body = alertBody(alert, target.format, sender);
    for (let repetition = 0; ; repetition++) {
      const isLast = this.#isClosed || repetition >= PAUSES.length;
      const headers = {
        "content-type": "application/json",
        "user-agent": `weir/${sender.version}`,
        ...signatureHeaders(alert.id, Math.floor(clock.wall() / 1000), body, target.secret),
      };
      const result = await (this.#options.post ?? post)(target.url, headers, body);
      if (result.kind === "ok") return count("delivered");
      if (result.kind === "refused" || isLast) return this.#lose(alert, target, result.why ?? "it fails");
      if (repetition === 0)
        report(`an alert could not be sent to ${placeOf(target.url)}: ${result.why}; weir tries again`);
      await this.#pause(Math.max(PAUSES[repetition]!, result.afterMs ?? 0));
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { wake: resolve };
    this.#waiting.add(waiting);
    const cancel = this.#options.clock.after(ms, resolve);
    await promise;
    cancel();
    this.#waiting.delete(waiting);
  }

  #lose(alert: Alert, target: AlertTarget, why: string): void {
    const { count, report } = this.#options;
    count("lost");
    report(`an alert was not delivered to ${placeOf(target.url)} (${why}): ${alert.message}`);
  }
}
