/** The credential is masked in an answer's bytes at every chunking, and nothing else is changed. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Target } from "../../../src/core/provider.ts";
import { bytesWithoutCredential, CredentialMask } from "../../../src/gateway/delivery/redact.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const KEY = "sk-sk-0123456789/abc";

function targetOf(key: string, headers: Record<string, string> = {}): Target {
  const deployment = {
    ...{ name: "p", baseUrl: "http://127.0.0.1:1", weight: 1, priority: 0 },
    credentials: { authorization: `Bearer ${key}` },
  };
  return {
    provider: { name: "p", deployments: [deployment], source: "built-in", patterns: [], headers },
    deployment,
    ...{ model: "m", lane: "native", format: "f", url: "http://127.0.0.1:1/x", reason: "test" },
  };
}

const target = targetOf(KEY);

function inChunks(text: string, cuts: readonly number[]): string {
  const bytes = Buffer.from(text);
  const mask = new CredentialMask(target);
  const passed: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const at = Math.min(cut, bytes.length);
    if (at > from) passed.push(mask.push(bytes.subarray(from, at)).slice());
    from = Math.max(from, at);
  }
  if (from < bytes.length) passed.push(mask.push(bytes.subarray(from)).slice());
  return Buffer.concat([...passed, mask.end()]).toString();
}

const piece = fc.oneof(fc.constantFrom(KEY, "sk-", "sk-sk-", KEY.slice(0, -1), "\n\n", "😀"), fc.string());

test("at every chunking the answer is the whole one with the credential masked", () => {
  withinBudget(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.nat(200), { maxLength: 12 }),
      (parts, cuts) => {
        const text = parts.join("").toWellFormed();
        expect(inChunks(text, cuts)).toBe(text.replaceAll(KEY, "***"));
      },
    ),
  );
});

test("cut at any byte, and cut at every byte", () => {
  const text = `data: ${KEY}${KEY} sk-sk-x ${KEY}\n\n`;
  const clean = text.replaceAll(KEY, "***");
  for (let at = 0; at <= text.length; at++) expect(inChunks(text, [at])).toBe(clean);
  expect(inChunks(text, [...Array(text.length).keys()])).toBe(clean);
});

test("a chunk without the credential passes as it is, not as a copy", () => {
  const chunk = new Uint8Array(Buffer.from("data: hello\n\n"));
  expect(new CredentialMask(target).push(chunk)).toBe(chunk);
  expect(bytesWithoutCredential(chunk, target)).toBe(chunk);
});

describe("what is masked in a successful answer", () => {
  const masked = (key: string, text = key, headers = {}) =>
    Buffer.from(bytesWithoutCredential(Buffer.from(`a ${text} b`), targetOf(key, headers))).toString();

  test("the credential as JSON and as a URL write it", () => {
    expect(masked(KEY, KEY.replaceAll("/", "\\/"))).toBe("a *** b");
    expect(masked(KEY, encodeURIComponent(KEY))).toBe("a *** b");
    expect(masked('quote"9876543210', 'quote\\"9876543210')).toBe("a *** b");
  });

  test("secret headers of the config", () => {
    expect(masked(KEY, "tenant-0123456789", { "x-tenant-token": "tenant-0123456789" })).toBe("a *** b");
  });

  test("not: words that stand for no credential at all", () => {
    for (const key of ["ollama", "EMPTY", "dummy", "lm-studio", "sk-no-key-required", "not-needed-here"])
      expect(masked(key)).toBe(`a ${key} b`);
  });
});
