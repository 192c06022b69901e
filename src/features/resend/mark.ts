/**
 * The mark of a call that is sent again: `ID.TIME.MAC`. The keeper makes it with a secret that only its workers know, so no client
 * can say of its own call that it repeats another one.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Call } from "../../core/call.ts";

export const MARK_HEADER = "x-weir-replay-of";

/** The call begins within this time of the mark. Milliseconds. */
const VALID_MS = 60_000;
/** Longer texts are none. Characters. */
const MAX_LENGTH = 256;

export const makeSecret = (): string => randomBytes(32).toString("base64url");

/** @param id of the call that is sent again @param now milliseconds since 1970 */
export function makeMark(secret: string, id: string, now: number): string {
  return `${id}.${now}.${macOf(secret, `${id}.${now}`)}`;
}

/** @returns the id of the call that another one sends again, for a call with a valid mark */
export function markReader(
  secret: string,
): (call: Pick<Call, "headers" | "startedAt">) => string | undefined {
  return ({ headers, startedAt }) => {
    const mark = headers.get(MARK_HEADER);
    return mark === null ? undefined : readMark(secret, mark, Date.now() - (performance.now() - startedAt));
  };
}

/** @param startedAt of the call with the mark. Milliseconds since 1970 */
export function readMark(secret: string, mark: string, startedAt: number): string | undefined {
  if (mark.length > MAX_LENGTH) return undefined;
  const [, id = "", time = "", mac = ""] = /^(.+)\.(\d+)\.([\w-]+)$/.exec(mark) ?? [];
  const expected = macOf(secret, `${id}.${time}`);
  if (mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(expected)))
    return undefined;
  return Math.abs(startedAt - Number(time)) <= VALID_MS ? id : undefined;
}

function macOf(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}
