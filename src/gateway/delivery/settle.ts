/** Ends a call exactly once: sets status and outcome, then runs the log and the `done` hooks. */
import type { Call, Outcome } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { limitText } from "../../core/printable.ts";
import { describeThrown } from "../../core/error-text.ts";
import type { Hooks } from "../../core/plugin.ts";
import { recordOf } from "../plugins/call-view.ts";
import { saidOf } from "../retry/said.ts";
import { withoutSecrets } from "./redact.ts";

/** Called at the end of every call: the log, and the `done` hook of each plugin. */
export type CallObserver = (call: Call) => void | Promise<void>;

export class Settler {
  readonly #observers: readonly CallObserver[];
  readonly #onFault: (fault: unknown) => void;

  /** @param onFault called when an observer throws or rejects; the call does not fail */
  constructor(observers: readonly CallObserver[], onFault: (fault: unknown) => void) {
    this.#observers = observers;
    this.#onFault = onFault;
  }

  /** @param status the status that the client received */
  complete(call: Call, status: number): void {
    call.status = status;
    this.#settle(call, "complete");
  }

  cancelled(call: Call): void {
    call.status ||= 499;
    this.#settle(call, "cancelled");
  }

  /** @param status the status that the client received */
  failed(call: Call, error: GatewayError, status: number): void {
    call.status = status;
    call.error ??= describeError(error, call);
    // An answer that broke off: the attempt is known as failed only when the call has ended.
    if (call.attempt) call.attempt.said ??= saidOf(error, call.attempt);
    this.#settle(call, error.kind === "cancelled" ? "cancelled" : "failed");
  }

  #settle(call: Call, outcome: Outcome): void {
    if (call.outcome) return this.#onFault(new Error(`${call.id} was settled twice`));
    call.outcome = outcome;
    call.endedAt = performance.now();
    call.release?.();
    for (const child of call.children ?? []) child.abort(parentEnded());
    for (const observe of this.#observers) this.#run(observe, call);
  }

  #run(observe: CallObserver, call: Call): void {
    try {
      const pending = observe(call);
      if (pending) pending.catch(this.#onFault);
    } catch (fault) {
      this.#onFault(fault);
    }
  }
}

function parentEnded(): GatewayError {
  return new GatewayError("cancelled", "The call for which a plugin asked has ended.");
}

/** The `done` hooks of the plugins, in order. */
export function doneHooks(hooks: readonly Hooks[]): CallObserver[] {
  return hooks.flatMap((hook) => (hook.done ? [(call: Call) => hook.done!(recordOf(call))] : []));
}

/** Limits of message and stack in the log, in bytes: clients and providers choose parts of them. */
const MESSAGE_BYTES = 1024;
const CAUSE_BYTES = 4096;

/** The error for the log: with its cause, and without credentials. */
export function describeError(error: GatewayError, call: Call): NonNullable<Call["error"]> {
  const { kind, code, cause } = error;
  const masked = (text: string) => withoutSecrets(text, call.attempt?.target.provider);
  return {
    kind,
    code,
    message: limitText(masked(error.message), MESSAGE_BYTES),
    cause: cause === undefined ? undefined : limitText(masked(describeThrown(cause)), CAUSE_BYTES),
  };
}
