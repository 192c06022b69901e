/** What of the exchange with the provider is kept: what differs from the bodies of the client. */
import { parseJson } from "../../core/json.ts";
import { wireTap } from "../../gateway/lanes/wire.ts";
import { type Mask, shortened } from "../../gateway/recording/meaning.ts";
import { mayShareSecrets } from "../../gateway/recording/split-secrets.ts";
import { type SeenWire, Wire } from "../../gateway/recording/wire.ts";
import type { TapedCall } from "../../gateway/tape.ts";
import type { CapturedWire } from "./captured.ts";

interface Recorded {
  taped: TapedCall;
  /** The client's body as JSON text, before it is masked. */
  written: string;
  /** The client's answer, masked. */
  answer: string;
  mask: Mask;
  /** Most of each body. Characters. */
  bytes: number;
}

/** @returns undefined if nothing was sent to a provider */
export function wireOf(recorded: Recorded): CapturedWire | undefined {
  const tap = wireTap.get(recorded.taped.call);
  const seen = tap instanceof Wire ? tap.seen : undefined;
  if (!seen) return undefined;
  const { taped, written, answer, mask, bytes } = recorded;
  const isSame = JSON.stringify(parseJson(seen.request)) === written;
  const isSecret = isHidden(seen, taped, mask);
  const request = isSame ? "" : mask(shortened(seen.request));
  const said = isSecret ? "" : mask(seen.answer);
  const hasAnswer = seen.status !== undefined;
  const cut: CapturedWire["cut"] = [
    ...(request.length > bytes ? (["request"] as const) : []),
    ...(said.length > bytes ? (["answer"] as const) : []),
  ];
  return {
    ...{ url: mask(seen.url), format: seen.format },
    ...(!isSame && { request: request.slice(0, bytes) }),
    ...(hasAnswer && { status: seen.status }),
    ...(hasAnswer && !isSecret && said !== answer && { answer: said.slice(0, bytes) }),
    ...(hasAnswer && isSecret && { isHidden: true as const }),
    ...(cut.length > 0 && { cut }),
  };
}

/** Each event of a stream may have a part of a credential. Frames of other kinds are not read. */
function isHidden({ type = "", answer, format }: SeenWire, taped: TapedCall, mask: Mask): boolean {
  if (type.startsWith("text/event-stream")) return mayShareSecrets(answer, format, taped, mask);
  return !/^(text\/|application\/([\w.]+\+)?json\b)/.test(type);
}
