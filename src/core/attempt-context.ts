/** What codecs may know of an attempt. */
import type { ChatRequest } from "./chat.ts";
import { withoutCredentials } from "./client-headers.ts";
import type { CodecContext, CodecTarget } from "./context.ts";
import type { HeaderReader } from "./headers.ts";
import type { LossCode } from "./loss.ts";
import { isOwnHost, traitsAt } from "./own-host.ts";
import type { Target } from "./provider.ts";

/** What it is made of. */
interface Attempting extends Pick<CodecContext, "storesAnswer" | "conversation" | "toolNames"> {
  readonly call: {
    readonly id: string;
    readonly format: string;
    readonly startedAt: number;
    readonly model: string;
    readonly headers: HeaderReader;
  };
  readonly target: Target;
  readonly request?: ChatRequest;
  reportLoss(code: LossCode, path: string, note?: string): void;
}

/** An attempt as codecs may know it. */
export class AttemptContext implements CodecContext {
  readonly #attempt: Attempting;
  readonly target: CodecTarget;
  #headers: HeaderReader | undefined;

  constructor(attempt: Attempting) {
    this.#attempt = attempt;
    this.target = codecTarget(attempt.target);
  }

  get id(): string {
    return this.#attempt.call.id;
  }

  get startedAt(): number {
    return this.#attempt.call.startedAt;
  }

  get model(): string {
    return this.#attempt.call.model;
  }

  get headers(): HeaderReader {
    return (this.#headers ??= withoutCredentials(this.#attempt.call.headers));
  }

  get sameFormat(): boolean {
    return this.#attempt.target.format === this.#attempt.call.format;
  }

  get request(): ChatRequest | undefined {
    return this.#attempt.request;
  }

  get storesAnswer(): boolean | undefined {
    return this.#attempt.storesAnswer;
  }

  get conversation(): string | null | undefined {
    return this.#attempt.conversation;
  }

  get toolNames(): Map<string, string> {
    return this.#attempt.toolNames;
  }

  reportLoss(code: LossCode, path: string, note?: string): void {
    this.#attempt.reportLoss(code, path, note);
  }
}

const codecTargets = new WeakMap<Target, CodecTarget>();

/** The part of a target that codecs may know. A target does not change. */
function codecTarget(target: Target): CodecTarget {
  let found = codecTargets.get(target);
  if (!found) codecTargets.set(target, (found = makeCodecTarget(target)));
  return found;
}

function makeCodecTarget(target: Target): CodecTarget {
  const { provider, deployment, model, fitsNative, traits = provider.traits ?? {} } = target;
  return {
    provider: provider.name,
    model,
    traits: traitsAt(traits, provider, deployment),
    ...(fitsNative && { fitsNative }),
    isVendor: isOwnHost(provider, deployment),
    maxTokensField: deployment.maxTokensField ?? (deployment.elsewhere ? undefined : traits.maxTokensField),
  };
}
