/** Why weir refuses a batch, in the envelope of each vendor: the table of the contract. */
import { expect, test } from "bun:test";
import type { GatewayError } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeError as openai } from "../../../formats/chat-completions/client/errors.ts";
import { encodeError as google } from "../../../formats/gemini/client/errors.ts";
import { encodeError as anthropic } from "../../../formats/messages/client/errors.ts";
import { DOLLAR } from "../../../ledger/money.ts";
import {
  aboveBudget,
  aboveFileQuota,
  batchEnded,
  batchNotEnded,
  batchNotFound,
  bodyTooLarge,
  fileInUse,
  fileNotFound,
  tooManyBatches,
  unsupportedEndpoint,
  wrongPurpose,
} from "../shapes/errors.ts";

/** Status and type for OpenAI's, Anthropic's and Google's clients; the code and the param for OpenAI's. */
const REFUSALS: Record<
  string,
  [error: GatewayError, openai: string, anthropic: string, google: string, code: string]
> = {
  "an unknown file": [
    fileNotFound("file-x", "openai"),
    "404 invalid_request_error",
    "404 not_found_error",
    "404 NOT_FOUND",
    "file_not_found input_file_id",
  ],
  "an unknown batch": [
    batchNotFound("batch_x"),
    "404 invalid_request_error",
    "404 not_found_error",
    "404 NOT_FOUND",
    "batch_not_found",
  ],
  "another purpose": [
    wrongPurpose("vision"),
    "400 invalid_request_error",
    "400 invalid_request_error",
    "400 INVALID_ARGUMENT",
    "wrong_purpose input_file_id",
  ],
  "an endpoint without batches": [
    unsupportedEndpoint("/v1/videos", ["/v1/chat/completions"]),
    "400 invalid_request_error",
    "400 invalid_request_error",
    "400 INVALID_ARGUMENT",
    "unsupported_value endpoint",
  ],
  "too many batches": [
    tooManyBatches(20, 7200),
    "429 rate_limit_error",
    "429 rate_limit_error",
    "429 RESOURCE_EXHAUSTED",
    "batch_limit",
  ],
  "a batch above the budget": [
    aboveBudget(5 * DOLLAR, DOLLAR),
    "429 insufficient_quota",
    "429 rate_limit_error",
    "429 RESOURCE_EXHAUSTED",
    "insufficient_quota",
  ],
  "a body that is too large": [
    bodyTooLarge(256 * 1024 * 1024),
    "413 invalid_request_error",
    "413 request_too_large",
    "413 INVALID_ARGUMENT",
    "request_too_large",
  ],
  "a file that is being read": [
    fileInUse("file-x", "openai"),
    "409 invalid_request_error",
    "409 conflict_error",
    "409 ABORTED",
    "file_in_use",
  ],
  "too many files": [
    aboveFileQuota(1024 * 1024),
    "413 invalid_request_error",
    "413 request_too_large",
    "413 INVALID_ARGUMENT",
    "file_quota",
  ],
  "a batch that has ended": [
    batchEnded("batch_x"),
    "409 invalid_request_error",
    "409 conflict_error",
    "409 ABORTED",
    "not_cancellable",
  ],
  "a batch that has not ended": [
    batchNotEnded("batch_x"),
    "400 invalid_request_error",
    "400 conflict_error",
    "400 ABORTED",
    "batch_not_ended",
  ],
};

const inner = (body: unknown) => (body as { error: JsonObject }).error;

for (const [what, [error, ...expected]] of Object.entries(REFUSALS))
  test(`${what} has the error of each vendor`, () => {
    const forOpenai = openai(error);
    const forAnthropic = anthropic(error, "req_1");
    const forGoogle = google(error);
    const { type, code, param } = inner(forOpenai.body);
    expect([
      `${forOpenai.status} ${String(type)}`,
      `${forAnthropic.status} ${String(inner(forAnthropic.body)["type"])}`,
      `${forGoogle.status} ${String(inner(forGoogle.body)["status"])}`,
      `${String(code)} ${String(param ?? "")}`.trim(),
    ]).toEqual(expected);
    expect(error.message).toMatch(/^[A-Z].*\.$/);
  });

test("a refusal tells when to come back, both sums, the served endpoints, and that the connection ends", () => {
  expect(openai(tooManyBatches(20, 7200)).headers).toMatchObject({ "retry-after": "60" });
  expect([tooManyBatches(1, 0.2).retryAfter, tooManyBatches(1, -5).retryAfter]).toEqual([1, 1]);
  expect(aboveBudget(5 * DOLLAR, DOLLAR).message).toMatch(/\$5(\.00)?, and \$1(\.00)? of the budget/);
  expect(unsupportedEndpoint("/x", ["/a", "/b"]).message).toContain("`/a`, `/b`");
  expect(anthropic(bodyTooLarge(1), "r").headers).toMatchObject({ connection: "close" });
  expect(google(fileInUse("files/x", "google")).status).toBe(400);
  expect(fileNotFound("files/x", "google").param).toBeUndefined();
});
