/** Decides what is worth an alert, and who gets it. */
import type { Warning } from "../../core/warning.ts";
import type { BreakerReport } from "../../ledger/messages.ts";
import { sayNano, type Nano, toDollars } from "../../ledger/money.ts";
import type { CallRecord } from "../../ledger/record.ts";
import { ALERT_EVENTS, type AlertEvent, type AlertTarget } from "./section.ts";
import type { Alert } from "./alert.ts";
import { Conditions } from "./conditions.ts";
import { ErrorRate, hasFailed, WINDOW_MS } from "./error-rate.ts";
import type { WallClock } from "../../core/wall-clock.ts";

/** A state that a worker has not repeated for this time counts as over. Milliseconds. */
const SILENT_MS = 10_000;
/** A store that is away for a shorter time is no news. Milliseconds. */
const STORE_MS = 5_000;

/** A budget that has reached a percentage of its limit. */
export interface ReachedBudget {
  name: string;
  percent: number;
  limit: Nano;
  /** Amount that is spent or assumed to be spent. */
  used: Nano;
  /** When the window ends, milliseconds since 1970; absent: never. */
  endsAt?: number;
}

type News = Pick<Alert, "subject" | "message" | "facts"> & { event: AlertEvent };
type Send = (alert: Alert, target: AlertTarget) => void;

export class Alerts {
  readonly #clock: WallClock;
  readonly #send: Send;
  readonly #conditions: Conditions;
  readonly #rate = new ErrorRate();
  /** The last report of each worker on its circuit breakers. */
  readonly #workers = new Map<number, { at: number; breakers: readonly BreakerReport[] }>();
  #targets: readonly AlertTarget[] = [];

  constructor(clock: WallClock, send: Send) {
    this.#clock = clock;
    this.#send = send;
    this.#conditions = new Conditions(clock);
  }

  set targets(targets: readonly AlertTarget[]) {
    this.#targets = targets;
  }

  /** Called once in a window for each percentage. */
  budget({ name, percent, limit, used, endsAt }: ReachedBudget): void {
    const until = endsAt === undefined ? "" : `; it resets on ${dateOf(endsAt)}`;
    this.#tell("reached", {
      event: "budget",
      subject: name,
      message: `the budget "${name}" has reached ${percent} % of ${sayNano(limit)}${until}`,
      facts: {
        percent,
        limit: toDollars(limit),
        used: toDollars(used),
        endsAt: endsAt === undefined ? null : new Date(endsAt).toISOString(),
      },
    });
  }

  /** @param fault one sentence while the store cannot be used */
  store(fault: string | undefined): void {
    const news = (message: string): News => ({
      ...{ event: "store", subject: "store", message },
      facts: { fault: fault ?? null },
    });
    const name = nameOf("store", "");
    if (fault === undefined) this.#isAway(name, () => news("the store can be used again"));
    else this.#holds(name, news(`the store cannot be used, records of calls wait: ${fault}`), STORE_MS);
  }

  /** What another part of weir sees. */
  warned({ event: word, condition, subject, isOver, message, facts }: Warning): void {
    const event = ALERT_EVENTS.find((one) => one === word);
    if (!event) return;
    const name = nameOf(event, `${condition} ${subject}`);
    const news = { event, subject, message, facts };
    if (isOver) this.#isAway(name, () => news);
    else this.#holds(name, news);
  }

  records(calls: readonly CallRecord[]): void {
    const now = this.#clock.wall();
    for (const call of calls) this.#rate.add(hasFailed(call), now);
    this.#checkErrors(now);
  }

  /** Called about once a second for each worker. */
  breakers(worker: number, breakers: readonly BreakerReport[]): void {
    const now = this.#clock.wall();
    this.#workers.set(worker, { at: now, breakers });
    this.#checkErrors(now);
    const open = new Set<string>();
    for (const [number, said] of this.#workers) {
      if (now - said.at > SILENT_MS) this.#workers.delete(number);
      else for (const breaker of said.breakers) this.#breaker(breaker, open);
    }
    for (const name of this.#conditions.names) {
      const [event, subject = ""] = splitName(name);
      if ((event !== "breaker" && event !== "credential") || open.has(name)) continue;
      this.#isAway(name, () => ({
        ...{ event, subject, facts: {} },
        message: `${subject} answers again, or calls no longer go there`,
      }));
    }
  }

  close(): void {
    this.#conditions.close();
  }

  #breaker({ deployment, why, what = "" }: BreakerReport, open: Set<string>): void {
    // A provider that asks for a pause is not broken.
    if (why !== "failing" && why !== "refused") return;
    const event = why === "refused" ? "credential" : "breaker";
    const name = nameOf(event, deployment);
    open.add(name);
    const message =
      why === "refused"
        ? `${deployment} refuses weir's credential, or the account has no funds (${what})`
        : `${deployment} fails (${what}); weir skips it if another deployment can answer`;
    this.#holds(name, { event, subject: deployment, message, facts: { deployment, failure: what } });
  }

  /** Targets may have different thresholds: each is a condition of its own. */
  #checkErrors(now: number): void {
    const rate = this.#rate.at(now);
    const shares = this.#targets
      .filter((target) => hears(target, "errors"))
      .map((target) => target.errorShare);
    for (const share of new Set(shares)) {
      const name = nameOf("errors", String(share));
      const facts = { calls: rate?.calls ?? 0, failed: rate?.failed ?? 0, threshold: share };
      const news = (message: string): News => ({ event: "errors", subject: "gateway", message, facts });
      const minutes = WINDOW_MS / 60_000;
      const isOfShare = (target: AlertTarget) => target.errorShare === share;
      if (rate && rate.share >= share) {
        const message = `${percentOf(rate.share)} of the calls of the last ${minutes} minutes failed (${rate.failed} of ${rate.calls})`;
        this.#holds(name, news(message), 0, isOfShare);
      } else this.#isAway(name, () => news(`less than ${percentOf(share)} of the calls fail`), isOfShare);
    }
  }

  #holds(name: string, news: News, afterMs = 0, mayHear?: (target: AlertTarget) => boolean): void {
    this.#conditions.holds(name, { begins: () => this.#tell("begins", news, mayHear) }, afterMs);
  }

  #isAway(name: string, news: () => News, mayHear?: (target: AlertTarget) => boolean): void {
    this.#conditions.isAway(name, {
      ends: (ms) => {
        const { facts, ...rest } = news();
        this.#tell("ends", { ...rest, facts: { ...facts, seconds: Math.round(ms / 1000) } }, mayHear);
      },
    });
  }

  #tell(state: Alert["state"], news: News, mayHear: (target: AlertTarget) => boolean = () => true): void {
    const alert: Alert = { id: `alert_${crypto.randomUUID()}`, state, at: this.#clock.wall(), ...news };
    for (const target of this.#targets)
      if (hears(target, news.event) && mayHear(target)) this.#send(alert, target);
  }
}

function hears({ events }: AlertTarget, event: AlertEvent): boolean {
  return events.includes(event);
}

function nameOf(event: AlertEvent, subject: string): string {
  return `${event} ${subject}`;
}

function splitName(name: string): [event: AlertEvent, subject: string] {
  const at = name.indexOf(" ");
  return [name.slice(0, at) as AlertEvent, name.slice(at + 1)];
}

function percentOf(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function dateOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
