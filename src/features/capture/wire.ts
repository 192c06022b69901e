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
  const { written, mask, bytes } = recorded;
  const isSame = JSON.stringify(parseJson(seen.request)) === written;
  return {
    ...{ url: mask(seen.url), format: seen.format },
    ...(!isSame && { request: mask(shortened(seen.request)).slice(0, bytes) }),
    ...(seen.status !== undefined && { status: seen.status, ...answerOf(seen, recorded) }),
  };
}

function answerOf(
  seen: SeenWire,
  { taped, answer, mask, bytes }: Recorded,
): Pick<CapturedWire, "answer" | "isHidden"> {
  if (isHidden(seen, taped, mask)) return { isHidden: true };
  const text = mask(seen.answer);
  return text === answer ? {} : { answer: text.slice(0, bytes) };
}

/** Each event of a stream may have a part of a credential. Frames of other kinds are not read. */
function isHidden({ type = "", answer, format }: SeenWire, taped: TapedCall, mask: Mask): boolean {
  if (type.startsWith("text/event-stream")) return mayShareSecrets(answer, format, taped, mask);
  return !/^(text\/|application\/([\w.]+\+)?json\b)/.test(type);
}
