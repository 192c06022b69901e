import { expect, test } from "bun:test";
import fc from "fast-check";
import { createKeyring, KEY_HEADERS } from "../../src/gateway/keys.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const digest = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("hex");
const keyring = createKeyring([
  { name: "alice", sha256: digest("first-key") },
  { name: "bob", sha256: digest("second-key") },
]);

function check(headers: Record<string, string>, order: readonly string[] = KEY_HEADERS): string | undefined {
  return keyring.check(new Headers(headers), order)?.name;
}

test("either header, the scheme in any case", () => {
  expect(check({ authorization: "Bearer first-key" })).toBe("alice");
  expect(check({ authorization: "bEaReR   second-key " })).toBe("bob");
  expect(check({ "x-api-key": "second-key" })).toBe("bob");
});

test("when both differ, the order decides", () => {
  const both = { authorization: "Bearer first-key", "x-api-key": "second-key" };
  expect(check(both, KEY_HEADERS)).toBe("alice");
  expect(check(both, ["x-api-key", "authorization"])).toBe("bob");
  expect(check({ ...both, "x-api-key": "wrong" }, ["x-api-key", "authorization"])).toBeUndefined();
  expect(check({ ...both, authorization: "Bearer wrong" }, KEY_HEADERS)).toBeUndefined();
});

test("nothing else gets in: prefixes, digests, other schemes, naughty strings", () => {
  const wrong = [
    "",
    "first-ke",
    "first-key2",
    digest("first-key"),
    "alice",
    "' OR '1'='1",
    "%00",
    "null",
    "__proto__",
    "x".repeat(9000),
  ];
  for (const key of wrong) {
    expect(check({ authorization: `Bearer ${key}` })).toBeUndefined();
    expect(check({ "x-api-key": key })).toBeUndefined();
  }
  expect(check({ authorization: "Basic first-key" })).toBeUndefined();
  expect(check({ authorization: "first-key" })).toBeUndefined();
  expect(check({})).toBeUndefined();
});

test("no header value makes it throw", () => {
  const latin = fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  });
  withinBudget(
    fc.property(latin, latin, (bearer, key) => {
      if (/first-key|second-key/.test(bearer + key)) return;
      expect(check({ authorization: `Bearer ${bearer}`, "x-api-key": key })).toBeUndefined();
    }),
  );
});

test("without keys nobody is let in by name, and the size says so", () => {
  expect(createKeyring([]).size).toBe(0);
  expect(createKeyring([]).check(new Headers({ "x-api-key": "x" }), KEY_HEADERS)).toBeUndefined();
});
