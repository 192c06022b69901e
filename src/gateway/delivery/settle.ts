/** How a call ends, exactly once, whatever became of it: status, outcome, log, hooks. */
import type { Call, Outcome } from "../../core/call.ts";
import type { GatewayError } from "../../core/error.ts";
import { limitText } from "../../core/limit-text.ts";
import { describeThrown } from "../../core/error-text.ts";
import type { Hooks } from "../../core/plugin.ts";
import { withoutSecrets } from "./redact.ts";

/** What is told of every call at its end: the log line, and each plugin's `done`. */
export type CallObserver = (call: Call) => void | Promise<void>;

export class Settler {
  readonly #observers: readonly CallObserver[];
  readonly #onFault: (fault: unknown) => void;

  /** @param onFault hears of an observer that threw; a call never fails because of one. */
  constructor(observers: readonly CallObserver[], onFault: (fault: unknown) => void) {
    this.#observers = observers;
    this.#onFault = onFault;
  }

  complete(call: Call): void {
    this.#settle(call, "complete");
  }

  cancelled(call: Call): void {
    call.status ||= 499;
    this.#settle(call, "cancelled");
  }

  /** @param status what the client was answered; 200 when the head had already gone out. */
  failed(call: Call, error: GatewayError, status?: number): void {
    if (status !== undefined) call.status = status;
    call.error ??= describeError(error, call);
    this.#settle(call, error.kind === "cancelled" ? "cancelled" : "failed");
  }

  #settle(call: Call, outcome: Outcome): void {
    if (call.outcome) return;
    call.outcome = outcome;
    call.endedAt = performance.now();
    call.release?.();
    for (const observe of this.#observers) this.#tell(observe, call);
  }

  #tell(observe: CallObserver, call: Call): void {
    try {
      const pending = observe(call);
      if (pending) pending.catch(this.#onFault);
    } catch (fault) {
      this.#onFault(fault);
    }
  }
}

/** The `done` hooks of the plugins, in their order. */
export function doneHooks(hooks: readonly Hooks[]): CallObserver[] {
  return hooks.flatMap((hook) => (hook.done ? [(call: Call) => hook.done!(call)] : []));
}

/** Longest sentence and longest stack in the log, in bytes: clients and providers choose parts of them. */
const MESSAGE_BYTES = 1024;
const CAUSE_BYTES = 4096;

/** The error as the log has it: with what lies beneath it, and without any credential. */
function describeError(error: GatewayError, call: Call): NonNullable<Call["error"]> {
  const { kind, code, cause } = error;
  const hidden = (text: string) => withoutSecrets(text, call.target?.provider);
  return {
    kind,
    code,
    message: limitText(hidden(error.message), MESSAGE_BYTES),
    cause: cause === undefined ? undefined : limitText(hidden(describeThrown(cause)), CAUSE_BYTES),
  };
}
