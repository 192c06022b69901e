/** Credentials in the place of a model's name, and the names that look a little like one. */
import { expect, test } from "bun:test";
import { Attempt } from "../../src/core/call.ts";
import { recordedName } from "../../src/core/printable.ts";
import { recordOf } from "../../src/ledger/worker/call-record.ts";
import { runningCallOf } from "../../src/ledger/worker/running.ts";
import { Booking } from "../../src/ledger/worker/booking.ts";
import { callOf, targetOf } from "../helpers/ledger.ts";

const WORD = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8";

test.each([
  `sk-proj-${WORD}_-${WORD}`,
  `sk-ant-api03-${WORD}-AA`,
  `sk-or-v1-${WORD}`,
  "sk-abc12345",
  `gsk_${WORD}`,
  `xai-${WORD}`,
  `hf_${WORD}`,
  `pplx-${WORD}`,
  `weir_sk_${WORD}`,
  `ghp_${WORD}`,
  `AIzaSy${WORD}`,
  "AKIAABCDEFGHIJKLMNOP",
  `eyJhbGciOiJIUzI1.eyJzdWIiOiIx.${WORD}`,
  `Bearer ${WORD}`,
])("%s is not recorded", (credential) => {
  expect(recordedName(credential)).toBe("[credential]");
  expect(recordedName(`openai/${credential}`)).toBe("openai/[credential]");
  expect(recordedName(`The model \`${credential}\` does not exist`)).not.toContain(credential.slice(4, 20));
});

test.each([
  "openai/gpt-5-mini-2025-08-07",
  "pplx-70b-online-instruct-latest",
  "hf/meta-llama/Llama-3.3-70B-Instruct",
  "hf_mistral-7b-instruct-v0.3",
  "xai/grok-4-fast-non-reasoning-latest",
  "xai-grok-4-fast-reasoning-2025",
  "accounts/fireworks/models/llama-v3p1-405b-instruct",
  "fw-llama-v3p1-405b-instruct-long",
  "anthropic.claude-sonnet-4-20250514-v1:0",
  "task-sk-long-model-name-of-a-lab",
  "ft:gpt-4o-mini-2024-07-18:my-org::AbCdEf12",
  "",
])("%s is recorded as it is", (name) => {
  expect(recordedName(name)).toBe(name);
});

test("records and running calls contain no credential that was given as a model, and the target keeps it", () => {
  const secret = `sk-proj-${WORD}`;
  const call = callOf({ model: `openai/${secret}` });
  const target = { ...targetOf(), model: secret };
  const attempt = new Attempt(call, target);
  attempt.booking = Object.assign(Object.create(Booking.prototype) as Booking, {
    shares: [],
    cost: 0,
    charge: { state: "free", cost: 0 },
  });
  call.attempts.push(attempt);
  const record = recordOf(call, call.attempts, Date.now());
  const written = JSON.stringify([record, runningCallOf(call, Date.now())]);
  expect(written).not.toContain(WORD);
  expect(written).toContain("openai/[credential]");
  expect(target.model).toBe(secret);
});
