/** Result lines as files of results have them: OpenAI's form. Bodies of answers keep their bytes. */
import { randomBytes } from "node:crypto";

/** Why a line has no answer. */
export type Unanswered =
  "batch_expired" | "batch_cancelled" | "insufficient_quota" | "upstream_lost" | "key_gone";

const MESSAGES: Readonly<Record<Unanswered, string>> = {
  batch_expired: "The time of the batch was over before this line began.",
  batch_cancelled: "The batch was cancelled before this line began.",
  insufficient_quota: "The budget of the key does not suffice for this line.",
  upstream_lost:
    "The gateway ended while this line was running. The provider may have answered and charged it; weir does not ask twice.",
  key_gone: "The key that made the batch admits no calls any more.",
};

const encoder = new TextEncoder();

/** An answer of any status. @param body JSON */
export function answeredLine(
  customId: string,
  { status, id, body }: { status: number; id: string; body: Uint8Array },
): Uint8Array {
  const head = `{"id":"batch_req_${lineId()}","custom_id":${JSON.stringify(customId)},"response":{"status_code":${status},"request_id":${JSON.stringify(id)},"body":`;
  return Buffer.concat([encoder.encode(head), onOneLine(body), encoder.encode('},"error":null}')]);
}

/** @param message default: that of the code */
export function unansweredLine(customId: string, code: Unanswered, message = MESSAGES[code]): Uint8Array {
  return encoder.encode(
    JSON.stringify({
      ...{ id: `batch_req_${lineId()}`, custom_id: customId, response: null },
      error: { code, message },
    }),
  );
}

function lineId(): string {
  return randomBytes(12).toString("hex");
}

/** JSON has line ends between its tokens only. An answer that is no JSON stands as a string. */
function onOneLine(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body);
  if (text.length === 0) return encoder.encode("null");
  if (text[0] !== 0x7b && text[0] !== 0x5b) return encoder.encode(JSON.stringify(text.toString()));
  if (!text.includes(0x0a) && !text.includes(0x0d)) return text;
  return text.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
}
