/** Claims that are made to reach another place: a path stays below the literal beginning of its template. */
import { expect, test } from "bun:test";
import { identify, standingOf } from "../callers.ts";
import { entriesOf } from "../entries.ts";
import { pathFrom } from "../claims.ts";
import { grantsOf, groupsIn } from "../groups.ts";
import { TokenFault } from "../tokens/fault.ts";
import { readToken } from "../tokens/token.ts";
import { pathFault } from "../../../ledger/keys/path.ts";
import { base64url } from "./support/issuer.ts";
import { loadSection } from "./support/load.ts";

/** Values of a claim. */
const HOSTILE: readonly unknown[] = [
  ...[
    "../",
    "..",
    ".",
    "...",
    "../../eng",
    "..%2f..%2feng",
    "%2e%2e/eng",
    "..\\eng",
    "a/../../eng",
    "/eng",
    "//eng",
  ],
  ...[
    "/",
    "\\",
    "a//b",
    "a/b/c",
    "eng/",
    "~root",
    "$HOME",
    "${HOME}",
    "{email}",
    "{/iss}",
    "{1}",
    "*",
    "a*",
    "?",
  ],
  ...[
    "\0",
    "a\0b",
    "a\nb",
    "a\r\nset-cookie: x",
    "\u202eevil",
    "a\u202eb",
    "\u200b",
    "a\u200bb",
    "ａｌｉｃｅ",
    "аlice",
  ],
  ...[
    "é",
    "e\u0301",
    "😀",
    "\ud800",
    " ",
    " alice",
    "alice ",
    "a b",
    "-alice",
    "_alice",
    ".alice",
    "@alice",
    "@",
  ],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "null",
    "x".repeat(65),
    "x".repeat(10_000),
    "../".repeat(1_000),
  ],
  ...[
    "'; DROP TABLE identity_people; --",
    "<script>alert(1)</script>",
    "file:///etc/passwd",
    "http://evil.example",
  ],
  ...[null, true, false, 0, -1, 1.5, 1e300, [], ["alice"], {}, { toString: "alice" }, { "0": "a" }],
];

function claimsOf(value: unknown) {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: "https://idp.example",
    aud: "weir",
    sub: "somebody",
    iat: now,
    exp: now + 60,
    handle: value,
  } as never;
}

const CONFIG = {
  unknown: "create",
  create: { under: "/people" },
  providers: {
    idp: {
      ...{ issuer: "https://idp.example", audience: "weir", map: { path: "/people/{handle}" } },
      groups: { "team-*": { member: "/teams/{1}" }, root: { admin: "/" } },
    },
  },
};

test("a hostile value becomes one part of a path below /people, or the token is refused", () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(65);
  const entries = entriesOf(loadSection(CONFIG));
  const outside: string[] = [];
  let admitted = 0;
  for (const value of HOSTILE) {
    const text = [{ alg: "ES256" }, claimsOf(value)].map((part) => base64url(JSON.stringify(part))).join(".");
    try {
      const token = readToken(`${text}.${base64url(new Uint8Array(64))}`);
      const { entry, identified } = identify(token, entries, Date.now());
      const { path } = standingOf(identified, entry, { createUnder: "/people" }, undefined, undefined);
      admitted++;
      if (!/^\/people\/[a-z0-9][\w.@-]*$/i.test(path) || path.includes("..") || pathFault(path) !== undefined)
        outside.push(`${JSON.stringify(value)}: ${path}`);
    } catch (thrown) {
      if (!(thrown instanceof TokenFault)) outside.push(`${JSON.stringify(value)}: ${thrown}`);
    }
  }
  expect(outside).toEqual([]);
  expect(admitted).toBeGreaterThan(10);
});

test("create makes nobody outside of create.under", () => {
  const section = loadSection({
    ...CONFIG,
    providers: { idp: { ...CONFIG.providers.idp, map: { path: "/eng/{handle}" } } },
  });
  const [entry] = entriesOf(section);
  for (const value of ["alice", "people", "../people/alice"]) {
    const text = [{ alg: "ES256" }, claimsOf(value)].map((part) => base64url(JSON.stringify(part))).join(".");
    const token = readToken(`${text}.${base64url(new Uint8Array(64))}`);
    expect(() => {
      const { identified } = identify(token, [entry!], Date.now());
      standingOf(identified, entry!, { createUnder: "/people" }, undefined, undefined);
    }).toThrow(TokenFault);
  }
});

test("a hostile name of a group grants nothing outside of its rule", () => {
  const [entry] = entriesOf(loadSection(CONFIG));
  const groups = HOSTILE.flatMap((value) => (typeof value === "string" ? [`team-${value}`, value] : []));
  const grants = grantsOf(groupsIn({ groups: groups.slice(0, 1_999) as never }, "groups")!, entry!.rules);
  const wrong = grants.filter(
    ({ role, on }) => role !== "member" || !/^\/teams\/[a-z0-9][\w.@-]*$/i.test(on),
  );
  expect(wrong).toEqual([]);
});

test("names of groups: a list, a text with commas, objects, none, and too many for the token", () => {
  const names = (value: unknown, more: object = {}) =>
    groupsIn({ groups: value, ...more } as never, "groups");
  expect(names(["a", "b,c", "Ünï"])).toEqual(["a", "b,c", "Ünï"]);
  expect(names("a, b,,c")).toEqual(["a", "b", "c"]);
  expect(names([{ name: "a" }, { id: 1 }, 7, null])).toEqual(["a"]);
  expect(names(undefined)).toBeUndefined();
  expect(() => names(undefined, { _claim_names: { groups: "src1" } })).toThrow("too many groups");
  expect(() => names(undefined, { hasgroups: true })).toThrow("too many groups");
  expect(() => names({ a: true })).toThrow("neither");
  expect(names(Array.from({ length: 500 }, (_, index) => `g${index}`))).toHaveLength(500);
  expect(() => names(Array.from({ length: 2_001 }, () => "g"))).toThrow("more than 2000");
});

test("two values that are written alike stay two people, and the e-mail is no identity", () => {
  expect(pathFrom("/ci/{r}", { r: "corp/app" })).toBe("/ci/corp_app");
  const [entry] = entriesOf(loadSection(CONFIG));
  const idOf = (sub: string, handle: string) => {
    const text = [{ alg: "ES256" }, { ...(claimsOf(handle) as object), sub, groups: ["team-a"] }]
      .map((part) => base64url(JSON.stringify(part)))
      .join(".");
    return identify(readToken(`${text}.${base64url(new Uint8Array(64))}`), [entry!], Date.now()).identified
      .person;
  };
  expect(idOf("one", "alice")).toBe(idOf("one", "bob"));
  expect(idOf("one", "alice")).not.toBe(idOf("two", "alice"));
});
