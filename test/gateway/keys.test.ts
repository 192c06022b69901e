import { expect, test } from "bun:test";
import fc from "fast-check";
import { Keyring } from "../../src/gateway/keyring.ts";
import { compileKey } from "../../src/ledger/keys/principal.ts";
import { digestOf, makeKeyText } from "../../src/ledger/keys/form.ts";
import { createKey, revokeKey, rotateKey, UNLIMITED } from "../../src/ledger/keys/make.ts";
import { firstCredential, KEY_HEADERS } from "../../src/server/presented.ts";
import { entryOf, keyringOf } from "../helpers/keys.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const keyring = keyringOf(entryOf("alice", "first-key"), entryOf("bob", "second-key"));

function check(headers: Record<string, string>, order: readonly string[] = KEY_HEADERS): string | undefined {
  const request = new Request("http://weir/v1/models", { headers });
  return keyring.check(firstCredential(request, { keyHeaders: order }) ?? "")?.name;
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
    digestOf("first-key"),
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

test("a program that knows only an address sends the key in it, as password or with any name", () => {
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
  for (const pair of ["x:first-key", ":first-key", "alice:first-key"])
    expect(check(basic(pair))).toBeDefined();
  expect(check({ authorization: basic("x:first-key").authorization.toLowerCase() })).toBeUndefined();
  expect(
    check({ authorization: basic("x:first-key").authorization.replace("Basic", "bASIC") }),
  ).toBeDefined();
  for (const pair of ["first-key", "first-key:", "x:wrong", ":", ""])
    expect(check(basic(pair))).toBeUndefined();
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

test("without keys the keyring is open, and finds no key", () => {
  expect(keyringOf().isOpen).toBe(true);
  expect(keyringOf().check("x")).toBeUndefined();
});

const HOUR = 3_600_000;

test("the first call key of the store closes the gateway, and revoking or removing the last one does not open it", () => {
  const ring = keyringOf();
  const { entry, text } = createKey({ name: "alice" }, UNLIMITED, Date.now());
  ring.replace([], false);
  expect(ring.isOpen).toBe(true);
  ring.change([compileKey(entry)], [], true);
  expect(ring.isOpen).toBe(false);
  expect(ring.check(text)?.name).toBe("alice");
  ring.change([compileKey(revokeKey(entry, false, UNLIMITED, Date.now()))], [], true);
  expect(ring.isOpen).toBe(false);
  expect(ring.check(text)).toBeUndefined();
  expect(ring.faultOf(text).fault).toBe("revoked");
  ring.change([], [entry.id], true);
  expect(ring.isOpen).toBe(false);
  expect(ring.faultOf(text).fault).toBe("unknown");
});

test("a rotated key is valid under both texts until the grace period ends, as one key", () => {
  const now = Date.now();
  const first = createKey({ name: "alice" }, UNLIMITED, now - HOUR);
  const second = rotateKey(first.entry, 2 * HOUR, UNLIMITED, now - HOUR);
  const ring = keyringOf();
  ring.replace([compileKey(second.entry)], true);
  const found = ring.check(first.text);
  expect(found?.id).toBe(first.entry.id);
  expect(ring.check(second.text)).toBe(found!);
  const late = rotateKey(first.entry, HOUR, UNLIMITED, now - 2 * HOUR);
  ring.replace([compileKey(late.entry)], true);
  expect(ring.check(first.text)).toBeUndefined();
  expect(ring.faultOf(first.text)).toEqual({ fault: "replaced", until: now - HOUR });
  expect(ring.check(late.text)?.id).toBe(first.entry.id);
});

test("a key expires at its time, while it is in use", async () => {
  const now = Date.now();
  const { entry, text } = createKey({ name: "alice", expiresAt: now + 300 }, UNLIMITED, now);
  const ring = keyringOf(entry);
  expect(ring.check(text)?.name).toBe("alice");
  await Bun.sleep(Math.max(0, now + 320 - Date.now()));
  expect(ring.check(text)).toBeUndefined();
  expect(ring.faultOf(text)).toEqual({ fault: "expired", until: now + 300 });
});

test("a key of the admin API admits no call, and a mistyped key is told from an unknown one", () => {
  const admin = createKey({ name: "root", kind: "admin" }, UNLIMITED, Date.now());
  const ring = keyringOf(admin.entry);
  expect(ring.check(admin.text)).toBeUndefined();
  expect(ring.faultOf(admin.text).fault).toBe("admin");
  const other = makeKeyText("call");
  expect(ring.faultOf(other).fault).toBe("unknown");
  expect(ring.faultOf(`${other.slice(0, -1)}-`).fault).toBe("mistyped");
  expect(ring.faultOf("").fault).toBe("unknown");
});

test("a key of the config wins over a stored one with the same text, and a reload brings the stored one back", () => {
  const ring = keyringOf(entryOf("alice", "shared"));
  ring.replace([compileKey(entryOf("imported", "shared", { id: "key_000000000000" }))], true);
  expect(ring.check("shared")?.name).toBe("alice");
  ring.declare([]);
  expect(ring.check("shared")?.name).toBe("imported");
});

test("a keyring that expects keys of the store admits nobody without a key until it has them", async () => {
  const ring = new Keyring();
  ring.expectStored();
  expect(ring.isOpen).toBe(false);
  const { pending } = ring;
  ring.replace([], false);
  await pending;
  expect(ring.isOpen).toBe(true);
});

test("one object stands for a key until the key changes", () => {
  const entry = entryOf("alice", "text", { id: "key_000000000001" });
  const other = entryOf("bob", "other", { id: "key_000000000002" });
  const ring = keyringOf();
  ring.replace([compileKey(entry), compileKey(other)], true);
  const found = ring.check("text")!;
  ring.change([compileKey({ ...other, name: "bobby" })], [], true);
  expect(ring.check("text")).toBe(found);
  expect(ring.check("other")?.name).toBe("bobby");
});

test("a key is gone when it was revoked or deleted, and while keys are not known none is", () => {
  const ring = keyringOf(
    entryOf("alice", "one"),
    entryOf("bob", "two", { revokedAt: 1 }),
    entryOf("eve", "three", { expiresAt: 1 }),
  );
  expect(["alice", "bob", "eve", "nobody"].map((name) => ring.isGone(`config:${name}`))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  ring.replace([compileKey(entryOf("alice", "one"))], false, true);
  expect(ring.isGone("config:nobody")).toBe(false);
});
