/** Delivers alerts: each is repeated with growing pauses until its receiver has it. */
import type { AlertTarget } from "./section.ts";
import { type Alert, alertBody, type Sender } from "./alert.ts";
import type { WallClock } from "../../core/wall-clock.ts";
import { placeOf, type Post, post } from "../../http/post.ts";
import { signatureHeaders } from "../../http/signature.ts";

/** Before each repetition. Milliseconds. */
const PAUSES = [2_000, 10_000, 60_000, 300_000, 1_800_000];
/** Alerts that wait; further ones are lost. */
const MAX_WAITING = 200;

export const ALERT_RESULTS = ["delivered", "lost"] as const;
export type AlertResult = (typeof ALERT_RESULTS)[number];

/** What has become of an alert so far. */
export interface Progress {
  readonly result: "waiting" | "delivered" | "failed";
  /** Why the last request failed: a clause. */
  readonly reason?: string;
  /** Requests. */
  readonly tries: number;
}

export interface WebhookOptions {
  sender: Sender;
  clock: WallClock;
  /** Writes a sentence to the log. */
  report(text: string): void;
  count(result: AlertResult): void;
  /** Called when an alert waits, and after each request. */
  note?(alert: Alert, target: AlertTarget, progress: Progress): void;
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
    if (this.#running.size >= MAX_WAITING) return this.#lose(alert, target, 0, "too many alerts wait");
    this.#note(alert, target, { result: "waiting", tries: 0 });
    const delivery = this.#deliver(alert, target).finally(() => this.#running.delete(delivery));
    this.#running.add(delivery);
  }

  /** Sends an alert once, and does not repeat it. */
  async once(alert: Alert, target: AlertTarget): Promise<Progress> {
    const { kind, why = "it fails" } = await this.#post(alert, target);
    const progress: Progress =
      kind === "ok" ? { result: "delivered", tries: 1 } : { result: "failed", reason: why, tries: 1 };
    this.#note(alert, target, progress);
    return progress;
  }

  /** Each alert that waits gets a last attempt. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { wake } of this.#waiting) wake();
    await Promise.all(this.#running);
  }

  async #deliver(alert: Alert, target: AlertTarget): Promise<void> {
    const { count, report } = this.#options;
    for (let tries = 1; ; tries++) {
      const isLast = this.#isClosed || tries > PAUSES.length;
      const result = await this.#post(alert, target);
      if (result.kind === "ok") {
        this.#note(alert, target, { result: "delivered", tries });
        return count("delivered");
      }
      const { why = "it fails" } = result;
      if (result.kind === "refused" || isLast) return this.#lose(alert, target, tries, why);
      if (tries === 1)
        report(`an alert could not be sent to ${placeOf(target.url)}: ${result.why}; weir tries again`);
      this.#note(alert, target, { result: "waiting", reason: why, tries });
      await this.#pause(Math.max(PAUSES[tries - 1]!, result.afterMs ?? 0));
    }
  }

  #post(alert: Alert, target: AlertTarget): ReturnType<Post> {
    const { sender, clock } = this.#options;
    const body = alertBody(alert, target.format, sender);
    const headers = {
      "content-type": "application/json",
      "user-agent": `weir/${sender.version}`,
      ...signatureHeaders(alert.id, Math.floor(clock.wall() / 1000), body, target.secret),
    };
    return (this.#options.post ?? post)(target.url, headers, body);
  }

  #note(alert: Alert, target: AlertTarget, progress: Progress): void {
    this.#options.note?.(alert, target, progress);
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

  #lose(alert: Alert, target: AlertTarget, tries: number, why: string): void {
    const { count, report } = this.#options;
    count("lost");
    this.#note(alert, target, { result: "failed", reason: why, tries });
    report(`an alert was not delivered to ${placeOf(target.url)} (${why}): ${alert.message}`);
  }
}
