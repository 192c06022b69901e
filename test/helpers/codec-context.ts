/** A context for codecs, without a call and a gateway. */
import type { ChatRequest } from "../../src/core/chat.ts";
import type { CodecContext, CodecTarget } from "../../src/core/context.ts";
import type { Loss } from "../../src/core/loss.ts";
import type { Traits } from "../../src/core/provider.ts";

export interface ContextOptions extends Partial<Pick<CodecTarget, "isVendor" | "maxTokensField">> {
  /** Default: the client speaks another format. */
  sameFormat?: boolean;
  /** The client's name of the model. Default: the provider's. */
  askedFor?: string;
  /** The provider's name of the model. */
  model?: string;
  provider?: string;
  traits?: Traits;
  headers?: Record<string, string>;
  request?: ChatRequest;
  toolNames?: Map<string, string>;
}

export interface TestContext extends CodecContext {
  request?: ChatRequest;
  /** What the codec reported, once each. */
  readonly losses: readonly Loss[];
}

export function makeContext(options: ContextOptions = {}): TestContext {
  const { model = "some-model", traits = {} } = options;
  const losses: Loss[] = [];
  return {
    id: "req_test",
    startedAt: performance.now(),
    model: options.askedFor ?? model,
    headers: new Headers(options.headers),
    sameFormat: options.sameFormat ?? false,
    target: {
      provider: options.provider ?? "vendor",
      model,
      traits,
      isVendor: options.isVendor ?? false,
      maxTokensField: options.maxTokensField ?? traits.maxTokensField,
    },
    request: options.request,
    toolNames: options.toolNames ?? new Map(),
    reportLoss(code, path, note) {
      if (!losses.some((loss) => loss.code === code && loss.path === path)) losses.push({ code, path, note });
    },
    losses,
  };
}

/** `code:path` of each loss. */
export function lossesOf({ losses }: TestContext): string[] {
  return losses.map(({ code, path }) => `${code}:${path}`);
}
