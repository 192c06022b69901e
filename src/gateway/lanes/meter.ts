/** Metering: records usage and finish reason as the events of an answer pass, and shows the events to observers. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { estimateTokens, TextEstimate } from "../../core/estimate.ts";
import type { ChatEvent, Usage } from "../../core/events.ts";
import { hasInput, mergeUsage } from "../../core/events.ts";
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
  readonly #estimate = new TextEstimate();
  readonly #most = new MostTokens();
  #ended = false;

  constructor(attempt: Attempt, hooks: readonly Hooks[]) {
    this.#attempt = attempt;
    this.#observers = hooks.filter((hook) => hook.observe);
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
        this.#estimate.add(event.delta);
        if (attempt.countsOutput) this.#most.add(event.delta);
        attempt.noteOutput(attempt.outputBytes + Buffer.byteLength(event.delta), this.#most.total);
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

  /** The counts of an answer whose provider counted nothing, or the output alone. */
  #estimateUsage(counted: Usage): Usage {
    const { request } = this.#attempt;
    const output = counted.output > 0 ? counted.output : this.#estimate.tokens;
    const estimated = { input: request ? estimateTokens(request) : 0, output };
    this.#attempt.estimated = estimated;
    return { ...counted, ...estimated };
  }
}
