import { serverTools } from "../../../src/ledger/keys/options.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { globMatches } from "../../../src/core/glob.ts";
import { compilePrincipal } from "../../../src/ledger/keys/principal.ts";
import { blockContains, isInBlocks, parseBlock } from "../../../src/ledger/keys/addresses.ts";
import { changeKey, createKey, KeyError, type Maker } from "../../../src/ledger/keys/make.ts";
import { isWithin, pathFault } from "../../../src/ledger/keys/path.ts";
import { excessOf, globContains, scopesFault } from "../../../src/ledger/keys/scopes.ts";
import type { Target } from "../../../src/core/provider.ts";
import type { KeyEntry, Scopes } from "../../../src/ledger/policy.ts";
import { applies } from "../../../src/ledger/worker/line.ts";
import { withinBudget } from "../../helpers/within-budget.ts";
import { IS_LONG } from "../../helpers/effort.ts";

test("a star of a glob stands for any text, also for none and for slashes", () => {
  const cases: [string, string, boolean][] = [
    ["gpt-*", "gpt-5.4", true],
    ["gpt-*", "gpt-", true],
    ["gpt-*", "openai/gpt-5.4", false],
    ["*", "", true],
    ["openai/*", "openai/ft:gpt/x", true],
    ["*-mini", "gpt-5-mini", true],
    ["*-mini", "gpt-5-mini-2", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["gpt-5", "gpt-5.4", false],
    ["", "", true],
    ["", "x", false],
  ];
  for (const [glob, name, matches] of cases)
    expect([glob, name, globMatches(glob, name)]).toEqual([glob, name, matches]);
});

test("globs match as the regular expression does", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "*", "/"), maxLength: 8 });
  withinBudget(
    fc.property(part, part, (glob, text) => {
      const name = text.replaceAll("*", "");
      const expression = new RegExp(`^${glob.replaceAll("*", ".*")}$`, "s");
      expect(globMatches(glob, name)).toBe(expression.test(name));
    }),
  );
});

test("a glob that contains another one matches everything that the other one matches", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
  const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  withinBudget(
    fc.property(part, part, name, (outer, inner, text) => {
      if (globContains(outer, inner) && globMatches(inner, text)) expect(globMatches(outer, text)).toBe(true);
    }),
  );
});

test("addresses lie in blocks of both versions, and IPv4 addresses in IPv6 notation count as IPv4", () => {
  const isIn = (address: string, block: string) => isInBlocks(address, [parseBlock(block)!]);
  expect(isIn("10.1.2.3", "10.0.0.0/8")).toBe(true);
  expect(isIn("11.1.2.3", "10.0.0.0/8")).toBe(false);
  expect(isIn("::ffff:10.1.2.3", "10.0.0.0/8")).toBe(true);
  expect(isIn("10.1.2.3", "::ffff:10.0.0.0/104")).toBe(true);
  expect(isIn("192.0.2.7", "192.0.2.7")).toBe(true);
  expect(isIn("192.0.2.8", "192.0.2.7")).toBe(false);
  expect(isIn("192.0.2.130", "192.0.2.128/25")).toBe(true);
  expect(isIn("192.0.2.127", "192.0.2.128/25")).toBe(false);
  expect(isIn("1.2.3.4", "0.0.0.0/0")).toBe(true);
  expect(isIn("::1", "0.0.0.0/0")).toBe(false);
  expect(isIn("2001:db8:1::1", "2001:db8::/32")).toBe(true);
  expect(isIn("2001:db9::1", "2001:db8::/32")).toBe(false);
  expect(isIn("fe80::1%eth0", "fe80::/10")).toBe(true);
  expect(isIn("", "0.0.0.0/0")).toBe(false);
  expect(isIn("unknown", "::/0")).toBe(false);
});

test("a text that is no block of addresses is refused", () => {
  for (const text of [
    "",
    "10.0.0.1/8",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "example.com",
    "2001:db8::1/32",
    "10.0/8",
    "1.2.3.4/-1",
  ])
    expect([text, parseBlock(text)]).toEqual([text, undefined]);
  expect(blockContains(parseBlock("10.0.0.0/8")!, parseBlock("10.2.0.0/16")!)).toBe(true);
  expect(blockContains(parseBlock("10.2.0.0/16")!, parseBlock("10.0.0.0/8")!)).toBe(false);
});

test("paths are checked, and a path lies within itself and what is above it", () => {
  for (const path of ["/", "/eng", "/eng/search/alice@example.com"]) expect(pathFault(path)).toBeUndefined();
  for (const path of [
    "",
    "eng",
    "/eng/",
    "//",
    "/a b",
    `/${"x".repeat(300)}`,
    "/..",
    "/eng//x",
    "/a".repeat(17),
  ])
    expect([path, pathFault(path)]).not.toEqual([path, undefined]);
  expect(isWithin("/eng/search", "/eng")).toBe(true);
  expect(isWithin("/engine", "/eng")).toBe(false);
  expect(isWithin("/eng", "/eng/search")).toBe(false);
});

test("scopes that would permit nothing or anything by mistake are refused", () => {
  expect(scopesFault({ models: [] })?.clause).toBe("models is empty; leave it out to permit all");
  expect(scopesFault({ addresses: ["10.0.0.1/8"] })?.member).toBe("addresses");
  expect(scopesFault({ maxTokens: 0 })?.member).toBe("maxTokens");
  expect(scopesFault({ maxCost: -1 })?.member).toBe("maxCost");
  expect(
    scopesFault({ models: ["gpt-*"], endpoints: ["chat"], maxTokens: 1, serverTools: false }),
  ).toBeUndefined();
});

const MODELS = ["a", "ab", "abc", "b", "x/a", "x/b"];
const PROVIDERS = ["p", "q", "r"];
const ENDPOINTS = ["chat", "chat-x", "models"];
const ADDRESSES = ["10.0.0.1", "10.1.0.1", "192.0.2.1", "::1"];
const NOW = 1_800_000_000_000;

const list = (values: readonly string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }), {
    nil: undefined,
    freq: 2,
  });

const anyScopes: fc.Arbitrary<Scopes> = fc
  .record({
    models: list(["*", "a*", "ab*", "a", "abc", "x/*", "*b", "b", "@*", "@set", "@lost"]),
    providers: list(PROVIDERS),
    endpoints: list(ENDPOINTS),
    addresses: list(["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.0.0.1", "::/0", "::1"]),
    maxTokens: fc.option(fc.constantFrom(1, 10, 100), { nil: undefined }),
    maxCost: fc.option(fc.constantFrom(0, 10, 100), { nil: undefined }),
    serverTools: fc.option(fc.boolean(), { nil: undefined }),
  })
  .map((scopes) => Object.fromEntries(Object.entries(scopes).filter(([, value]) => value !== undefined)));

const anyRequest = fc.record({
  step: fc.constantFrom("", "/x", "/y"),
  scopes: anyScopes,
  expiresIn: fc.option(fc.constantFrom(1000, 2000, 3000), { nil: undefined }),
});

const SETS = { set: ["ab*", "b"] };

/** All that a key may do, as a list of facts. */
function powersOf(entry: KeyEntry): Set<string> {
  const principal = compilePrincipal(entry, () => SETS);
  const access = principal.options;
  const powers = [
    ...MODELS.filter((name) => access.allowsModel([name])).map((name) => `model ${name}`),
    ...PROVIDERS.filter((name) => access.allowsProvider(name)).map((name) => `provider ${name}`),
    ...ENDPOINTS.filter((name) => access.allowsEndpoint(name)).map((name) => `endpoint ${name}`),
    ...ADDRESSES.filter((name) => access.allowsAddress(name)).map((name) => `address ${name}`),
    ...[1, 10, 100, 1000]
      .filter((n) => access.maxTokens === undefined || n <= access.maxTokens)
      .map((n) => `tokens ${n}`),
    ...[0, 10, 100, 1000]
      .filter((n) => access.maxCost === undefined || n <= access.maxCost)
      .map((n) => `cost ${n}`),
    ...(serverTools.of(principal) === false ? [] : ["server tools"]),
    ...[1000, 2000, 3000, 4000]
      .filter((n) => entry.expiresAt === undefined || NOW + n <= entry.expiresAt)
      .map((n) => `until ${n}`),
    ...["/x", "/y", "/x/x", "/x/y", "/y/x"]
      .filter((path) => isWithin(path, entry.path))
      .map((path) => `path ${path}`),
  ];
  return new Set(powers);
}

/** `LONG_TESTS=1` tries 50,000. */
const TREES = IS_LONG ? 50_000 : 1_000;

test(`a child key can have nothing that its parent lacks: ${TREES} random trees`, () => {
  let made = 0;
  let refused = 0;
  const tree = fc.array(anyRequest, { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(tree, fc.boolean(), (requests, byChange) => {
      let maker: Maker = { path: "/", scopes: {}, sets: SETS };
      let parent: KeyEntry | undefined;
      for (const { step, scopes, expiresIn } of requests) {
        const path: string = `${maker.path === "/" ? "" : maker.path}${step}` || "/";
        const expiresAt = expiresIn === undefined ? undefined : NOW + expiresIn;
        let entry: KeyEntry;
        try {
          entry = byChange
            ? changeKey(createKey({ name: "child" }, maker, NOW).entry, { path, scopes, expiresAt }, maker)
            : createKey({ name: "child", path, scopes, expiresAt }, maker, NOW).entry;
        } catch (thrown) {
          if (!(thrown instanceof KeyError)) throw thrown;
          refused++;
          continue;
        }
        made++;
        if (parent) {
          const powers = powersOf(parent);
          const more = [...powersOf(entry)].filter((power) => !powers.has(power));
          if (more.length > 0) throw new Error(`the child has ${more.join(", ")}`);
        }
        parent = entry;
        maker = { ...entry, sets: SETS };
      }
    }),
    { numRuns: TREES, seed: 13 },
  );
  // Otherwise the property would hold for lack of cases.
  expect(made).toBeGreaterThan(TREES);
  expect(refused).toBeGreaterThan(TREES);
}, 600_000);

test("only the set itself and a pattern for every model contain a set, which may grow", () => {
  const excess = (inner: string, outer: string) =>
    excessOf({ models: [inner] }, { models: [outer] }, { sets: SETS });
  for (const outer of ["@set", "*"]) expect([outer, excess("@set", outer)]).toEqual([outer, undefined]);
  for (const outer of ["@*", "ab*", "@lost", "a*"])
    expect([outer, excess("@set", outer)?.clause]).toEqual([
      outer,
      expect.stringContaining(`within ${outer}`),
    ]);
  expect(excess("abc", "@set")).toBeUndefined();
  expect(excess("a", "@set")).toBeDefined();
});

test("a limit on a set that does not exist counts every call; its scope permits none", () => {
  const target = { provider: { name: "host" }, model: "abc", asked: "quick" } as Target;
  const counts = (what: string) => applies({ kind: "model", what }, undefined, target, SETS);
  expect(["@set", "@lost", "abc", "b"].map(counts)).toEqual([true, true, true, false]);
  expect(applies({ kind: "model", what: "@set" }, undefined, { ...target, model: "c" }, SETS)).toBe(false);
  const key = createKey({ name: "k", scopes: { models: ["@lost"] } }, { path: "/", scopes: {} }, NOW).entry;
  expect(compilePrincipal(key, () => SETS).options.allowsModel(["abc"])).toBe(false);
});
