/** Why weir refuses to make, cancel, delete or show a batch; each format writes them in its own envelope. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { BUDGET_EXHAUSTED } from "../../../core/refusal.ts";
import { type Nano, sayNano } from "../../../ledger/money.ts";
import type { Dialect } from "./ids.ts";

/** The longest time after which a client is asked to come back, in seconds. */
const MOST_WAIT = 60;

/** An id that is unknown, or belongs to another caller: clients cannot tell which. @param id as the client wrote it */
export function fileNotFound(id: string, dialect: Dialect): GatewayError {
  const param = dialect === "openai" ? "input_file_id" : undefined;
  return new GatewayError("not-found", `There is no file \`${id}\`.`, { code: "file_not_found", param });
}

/** @param id as the client wrote it */
export function batchNotFound(id: string): GatewayError {
  return new GatewayError("not-found", `There is no batch \`${id}\`.`, { code: "batch_not_found" });
}

export function wrongPurpose(purpose: string): GatewayError {
  const message = `The file has the purpose \`${purpose}\`; upload it with the purpose \`batch\`.`;
  return invalidRequest(message, "input_file_id", "wrong_purpose");
}

/** @param served paths of the endpoints that a batch may have */
export function unsupportedEndpoint(endpoint: string, served: readonly string[]): GatewayError {
  const message = `A batch cannot ask \`${endpoint}\`; it can ask ${served.map((one) => `\`${one}\``).join(", ")}.`;
  return invalidRequest(message, "endpoint", "unsupported_value");
}

/** @param most batches of a key at a time @param seconds until the oldest ends, by estimate */
export function tooManyBatches(most: number, seconds: number): GatewayError {
  const retryAfter = Math.min(MOST_WAIT, Math.max(1, Math.ceil(seconds)));
  const message = `The key has ${most} batches that have not ended, which is its limit.`;
  return new GatewayError("rate-limited", message, { code: "batch_limit", retryAfter });
}

/** @param tokens of the batch @param waiting those of the key's batches that wait @param most of a key */
export function tooManyTokens(tokens: number, waiting: number, most: number): GatewayError {
  const number = (count: number) => count.toLocaleString("en");
  const message = `The batch has about ${number(tokens)} tokens, and ${number(waiting)} of the key wait; its limit is ${number(most)}.`;
  const isEver = tokens > most;
  return new GatewayError("rate-limited", message, {
    code: "token_limit_exceeded",
    ...(isEver ? { shouldRetry: false } : { retryAfter: MOST_WAIT }),
  });
}

/** @param needed what the batch may cost at most @param left of the budget; undefined: clients do not see it */
export function aboveBudget(needed: Nano, left: Nano | undefined): GatewayError {
  const rest = left === undefined ? "its budget does not suffice" : `${sayNano(left)} of the budget are left`;
  const message = `The batch may cost ${sayNano(needed)}, and ${rest}.`;
  return new GatewayError("quota", message, { code: BUDGET_EXHAUSTED, shouldRetry: false });
}

/** @param most bytes of a file that is the input of a batch */
export function inputTooLarge(most: number): GatewayError {
  const message = `The file has more than ${Math.floor(most / 1024 / 1024)} MB; send several batches.`;
  return new GatewayError("too-large", message, { code: "request_too_large", param: "input_file_id" });
}

/** A body that is refused before it is read, so the connection cannot be used for more. @param most bytes */
export function bodyTooLarge(most: number): GatewayError {
  const message = `The body has more than ${Math.floor(most / 1024 / 1024)} MB; send several batches.`;
  return new GatewayError("too-large", message, {
    code: "request_too_large",
    headers: { connection: "close" },
  });
}

/** A file that a batch still reads cannot be deleted. Google's status for it is 400. */
export function fileInUse(id: string, dialect: Dialect): GatewayError {
  const message = `A batch that has not ended reads the file \`${id}\`; cancel the batch first.`;
  return new GatewayError("conflict", message, {
    code: "file_in_use",
    ...(dialect === "google" && { status: 400 }),
  });
}

/** @param quota bytes that the caller's files may have together */
export function aboveFileQuota(quota: number): GatewayError {
  const message = `The files of this path may have ${Math.floor(quota / 1024 / 1024)} MB together; delete some first.`;
  return new GatewayError("too-large", message, { code: "file_quota" });
}

/** A batch that has ended cannot be cancelled. */
export function batchEnded(id: string): GatewayError {
  return new GatewayError("conflict", `The batch \`${id}\` has ended.`, { code: "not_cancellable" });
}

/** Results and deletion wait for the end. */
export function batchNotEnded(id: string): GatewayError {
  return new GatewayError("conflict", `The batch \`${id}\` has not ended; wait for its end, or cancel it.`, {
    ...{ code: "batch_not_ended", status: 400 },
  });
}
