/** Makes what codecs may know of a call and its current target. */
import type { Call } from "../../core/call.ts";
import type { CodecContext, CodecTarget } from "../../core/context.ts";
import type { HeaderReader } from "../../core/headers.ts";
import type { Target } from "../../core/provider.ts";

/** The context of the running attempt. Losses and renamed tools are recorded on the call. */
export function contextOf(call: Call): CodecContext {
  const target = call.target!;
  return {
    id: call.id,
    model: call.model,
    headers: withoutCredentials(call.headers),
    sameFormat: target.format === call.format,
    target: codecTarget(target),
    get request() {
      return call.request;
    },
    toolNames: call.toolNames,
    reportLoss: (code, path, note) => call.reportLoss(code, path, note),
  };
}

/** The part of a target that codecs may know. */
export function codecTarget({ provider, deployment, model }: Target): CodecTarget {
  const traits = provider.traits ?? {};
  return {
    provider: provider.name,
    model,
    traits,
    isVendor: provider.baseUrl !== undefined && !deployment.elsewhere,
    maxTokensField: deployment.maxTokensField ?? (deployment.elsewhere ? undefined : traits.maxTokensField),
  };
}

const CREDENTIALS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
]);

/** Hides the credentials of the client. */
function withoutCredentials(headers: HeaderReader): HeaderReader {
  const isHidden = (name: string) => CREDENTIALS.has(name.toLowerCase());
  return {
    get: (name) => (isHidden(name) ? null : headers.get(name)),
    has: (name) => !isHidden(name) && headers.has(name),
    forEach: (visit) =>
      headers.forEach((value, name) => {
        if (!isHidden(name)) visit(value, name);
      }),
  };
}
