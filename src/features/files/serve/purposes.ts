/** What clients may say of a new file. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { FileLimits } from "../settings.ts";

/** Those that the vendor takes from clients. */
const PURPOSES = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];
/** That of files of clients that know no purposes. */
export const USUAL_PURPOSE = "user_data";

const BATCH = "batch";
/** Largest file with the lines of a batch. Bytes. */
const MAX_BATCH = 200 * 1024 * 1024;

/** Shortest and longest life that clients of OpenAI may give. Seconds. */
const LEAST_SECONDS = 3_600;
const MOST_SECONDS = 2_592_000;
/** Longest life that clients of Anthropic may give. Seconds. */
export const LONG_SECONDS = 7_776_000;

/** @throws GatewayError */
export function purposeOf(purpose: unknown): string {
  if (typeof purpose === "string" && PURPOSES.includes(purpose)) return purpose;
  throw invalidRequest(`purpose must be one of ${PURPOSES.join(", ")}.`, "purpose");
}

/** @throws GatewayError for a file that its purpose does not allow */
export function checkPurpose(purpose: string, name: string, bytes: number): void {
  if (purpose !== BATCH) return;
  if (!name.toLowerCase().endsWith(".jsonl"))
    throw invalidRequest("A file with the purpose batch must have a name that ends in .jsonl.", "file");
  if (bytes > MAX_BATCH) throw tooLong(MAX_BATCH, "A file with the purpose batch");
}

/** @param seconds as the client wrote them; undefined: as long as weir keeps files @returns milliseconds @throws GatewayError */
export function lifeOf(
  seconds: unknown,
  param: string,
  { keepMs }: Pick<FileLimits, "keepMs">,
  most = MOST_SECONDS,
): number {
  if (seconds === undefined) return keepMs;
  const count = Number(seconds);
  if (!Number.isInteger(count) || count < LEAST_SECONDS || count > most)
    throw invalidRequest(`${param} must be an integer between ${LEAST_SECONDS} and ${most}.`, param);
  return Math.min(keepMs, count * 1000);
}

/** `expires_after` of OpenAI, of which `anchor` has one value. @throws GatewayError */
export function lifeAfter(anchor: unknown, seconds: unknown, limits: Pick<FileLimits, "keepMs">): number {
  if (anchor === undefined && seconds === undefined) return limits.keepMs;
  if (anchor !== "created_at")
    throw invalidRequest("expires_after.anchor must be created_at.", "expires_after.anchor");
  return lifeOf(seconds ?? "", "expires_after.seconds", limits);
}

export function tooLong(most: number, what = "The file"): GatewayError {
  return new GatewayError("too-large", `${what} is larger than ${most} bytes.`, {
    ...{ code: "request_too_large", headers: { connection: "close" } },
  });
}
