/** Metering: records usage and finish reason as the events of an answer pass, and shows the events to observers. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { estimateTokens, TextEstimate } from "../../core/estimate.ts";
import type { ChatEvent, Usage } from "../../core/events.ts";
import { hasInput, mergeUsage, usageState } from "../../core/events.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";
import type { Hooks } from "../../core/plugin.ts";
import { viewOf } from "../plugins/call-view.ts";

/**
 * Meters one answer. If the provider counts no tokens, the client receives an estimate, which the attempt keeps apart from
 * counted tokens.
 */
export class Meter {
  readonly #attempt: Attempt;
  readonly #observers: readonly Hooks[];
  #estimate: TextEstimate | undefined;
  #most: MostTokens | undefined;
  /** The provider has counted the whole answer: its text need not be. */
  #isCounted = false;
  #ended = false;

  constructor(attempt: Attempt, hooks: readonly Hooks[]) {
    this.#attempt = attempt;
    this.#observers = hooks.length === 0 ? hooks : hooks.filter((hook) => hook.observe);
  }

  /** Takes all events of an answer that came whole, and returns the events for the client. @throws as {@link end} */
  passAll(events: readonly ChatEvent[]): readonly ChatEvent[] {
    const last = events.at(-1);
    this.#isCounted = last?.type === "message-end" && usageState(last.usage) === "final";
    const passed = events.map((event) => this.pass(event));
    this.end();
    return passed;
  }

  /** Takes each event in order, and returns the event for the client. */
  pass(event: ChatEvent): ChatEvent {
    this.#attempt.firstByteAt ??= performance.now();
    const metered = this.#record(event);
    for (const hook of this.#observers) hook.observe!(metered, viewOf(this.#attempt));
    return metered;
  }

  /** @throws GatewayError if the events have ended without `message-end`: every writer relies on it */
  end(): void {
    if (this.#ended) return;
    // A source may end its events because the call was aborted.
    throw this.#attempt.stop.reason ?? incompleteStream();
  }

  #record(event: ChatEvent): ChatEvent {
    const attempt = this.#attempt;
    switch (event.type) {
      case "block-delta":
        if (!this.#isCounted) this.#count(event.delta);
        return event;
      case "message-start":
        if (event.usage) attempt.usage = event.usage;
        return event;
      case "usage":
        attempt.usage = mergeUsage(attempt.usage, event.usage);
        return event;
      case "message-end":
        this.#ended = true;
        attempt.usage = event.usage;
        attempt.finish = event.reason.raw ?? event.reason.kind;
        return hasInput(event.usage) ? event : { ...event, usage: this.#estimateUsage(event.usage) };
      default:
        return event;
    }
  }

  #count(delta: string): void {
    const attempt = this.#attempt;
    (this.#estimate ??= new TextEstimate()).add(delta);
    if (attempt.countsOutput) (this.#most ??= new MostTokens()).add(delta);
    attempt.noteOutput(attempt.outputBytes + Buffer.byteLength(delta), this.#most?.total ?? 0);
  }

  /** The counts of an answer whose provider counted nothing, or the output alone. */
  #estimateUsage(counted: Usage): Usage {
    const { request } = this.#attempt;
    const output = counted.output > 0 ? counted.output : (this.#estimate?.tokens ?? 0);
    const estimated = { input: request ? estimateTokens(request) : 0, output };
    this.#attempt.estimated = estimated;
    return { ...counted, ...estimated };
  }
}
