import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { Format } from "../../../src/core/format.ts";
import type { Provider } from "../../../src/core/provider.ts";
import { Secret } from "../../../src/core/secret.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { describePlan } from "../../../src/gateway/routing/plan.ts";
import { compilePattern } from "../../../src/gateway/routing/pattern.ts";
import { Registry } from "../../../src/gateway/routing/registry.ts";
import type { RegistryOptions } from "../../../src/gateway/routing/registry.ts";

const formats: Format[] = [chatCompletionsFormat, messagesFormat];

function host(name: string, more: Partial<Provider> = {}): Provider {
  return {
    name,
    baseUrl: `https://${name}.example/v1`,
    speaks: { "chat-completions": "/chat/completions" },
    ...more,
  };
}

function registry(providers: Provider[], more: Partial<RegistryOptions> = {}): Registry {
  const plugins = providers.map((provider) => ({
    plugin: { name: provider.name, providers: [provider] },
    source: "built-in",
  }));
  return new Registry({ plugins, formats, settings: () => ({}), ...more });
}

const mock: Provider = { name: "mock", async *generate() {} };

describe("the more specific pattern comes first", () => {
  const rows: [why: string, providers: Provider[], model: string, winner: string, upstream: string][] = [
    ["provider/model forces the provider", [host("a", { models: ["b/*"] }), host("b")], "b/x", "b", "x"],
    [
      "exact before glob",
      [host("a", { models: ["gpt-*"] }), host("b", { models: ["gpt-5"] })],
      "gpt-5",
      "b",
      "gpt-5",
    ],
    [
      "longer before shorter",
      [host("a", { models: ["gpt-*"] }), host("b", { models: ["gpt-5-*"] })],
      "gpt-5-x",
      "b",
      "gpt-5-x",
    ],
    [
      "then the order of loading",
      [host("a", { models: ["g*"] }), host("b", { models: ["g*"] })],
      "gx",
      "a",
      "gx",
    ],
    ["only a trailing /* strips", [host("a", { models: ["x/*-y"] })], "x/1-y", "a", "x/1-y"],
    ["a prefix is stripped once", [host("a")], "a/a/x", "a", "a/x"],
  ];
  for (const [why, providers, model, winner, upstream] of rows) {
    test(why, () => {
      const target = registry(providers).resolve(model, "chat-completions");
      expect([target.provider.name, target.model]).toEqual([winner, upstream]);
      expect(registry(providers).explain(model)[0]).toMatchObject({
        provider: winner,
        model: upstream,
        wins: true,
      });
    });
  }

  test("a dropped file before a built-in one, and it replaces one of its name", () => {
    const plugins = [
      { plugin: { name: "a", providers: [host("a", { models: ["g*"] })] }, source: "built-in" },
      { plugin: { name: "b", providers: [host("b", { models: ["g*"] })] }, source: "/p/b.ts" },
      {
        plugin: { name: "a2", providers: [host("a", { baseUrl: "https://other.example" })] },
        source: "/p/a.ts",
      },
    ];
    const built = registry([], { plugins });
    expect(built.resolve("gx", "chat-completions").provider.name).toBe("b");
    expect(built.resolve("a/x", "chat-completions").url).toBe("https://other.example/chat/completions");
  });
});

test("lanes: the client's own format wins, otherwise the first listed", () => {
  const both = host("a", { speaks: { "chat-completions": "/chat/completions", messages: "/messages" } });
  const built = registry([both, host("b"), mock]);
  expect(built.resolve("a/x", "messages")).toMatchObject({
    lane: "native",
    url: "https://a.example/v1/messages",
  });
  expect(built.resolve("b/x", "messages")).toMatchObject({ lane: "translated", format: "chat-completions" });
  expect(built.resolve("mock/x", "messages")).toMatchObject({ lane: "generated", model: "x" });
});

test("an unknown model is refused with what would help", () => {
  const thrown = () =>
    registry([host("a"), host("b", { models: ["b-*"], apiKey: "B_API_KEY" })]).resolve("b-1", "messages");
  expect(thrown).toThrow(GatewayError);
  expect(thrown).toThrow("belongs to b, which is off: set B_API_KEY");
  expect(() => registry([host("a")]).resolve("zzz", "messages")).toThrow("provider/model (a/…)");
});

test("with nothing but the mock on, it stands in for known providers and says so", () => {
  const only = registry([mock, host("b", { models: ["b-*"], apiKey: "B_API_KEY" })]);
  expect(only.resolve("b-1", "messages")).toMatchObject({ substitute: true, lane: "generated" });
  expect(() => only.resolve("zzz", "messages")).toThrow(GatewayError);
  const settings = () => ({ apiKey: new Secret("k") });
  const more = registry([mock, host("b", { models: ["b-*"], apiKey: "B_API_KEY" })], { settings });
  expect(more.resolve("b-1", "messages").substitute).toBeUndefined();
});

test("aliases point at names, are listed, and never at each other", () => {
  const built = registry([host("a", { catalog: ["m"] })], { aliases: { fast: "a/m" } });
  expect(built.resolve("fast", "chat-completions")).toMatchObject({ model: "m" });
  expect(built.models().map((model) => model.id)).toEqual(["fast", "a/m"]);
  expect(() => registry([host("a")], { aliases: { x: "y", y: "a/m" } })).toThrow("alias itself");
});

test("mistakes in a plugin are said at the start", () => {
  const rows: [Provider, string][] = [
    [{ name: "Bad Name", generate: mock.generate }, "lower-case"],
    [{ name: "a" }, "speak a format, generate or embed, or do something else"],
    [host("a", { generate: mock.generate }), "not both"],
    [host("a", { speaks: { gemini: "/x" } }), 'speaks "gemini", which no upstream codec supports'],
    [host("a", { speaks: { messages: "x" } }), "begin with a slash"],
    [host("a", { baseUrl: "file:///etc" }), "http or https"],
    [host("a", { baseUrl: "https://u:p@a.example" }), "user"],
  ];
  for (const [provider, sentence] of rows) expect(() => registry([provider])).toThrow(sentence);
});

test("credentials are headers bound to the provider and do not print", () => {
  const settings = () => ({ apiKey: new Secret("canary") });
  const [bearer, own] = registry(
    [host("a", { apiKey: "A" }), host("b", { apiKey: "B", auth: "x-api-key" })],
    { settings },
  ).providers;
  expect(bearer?.deployments[0]?.credentials).toEqual({ authorization: "Bearer canary" });
  expect(own?.deployments[0]?.credentials).toEqual({ "x-api-key": "canary" });
  expect(`${settings().apiKey} ${JSON.stringify(settings())} ${Bun.inspect(settings())}`).not.toContain(
    "canary",
  );
});

describe("plans", () => {
  const keyed = (provider: Partial<Provider> = {}) => host("a", { apiKey: "A", ...provider });
  const deployments = [
    { name: "eu", apiKey: new Secret("one"), weight: 3 },
    { name: "us", apiKey: new Secret("two"), baseUrl: "https://us.example/v1", priority: 1 },
  ];
  const failed = (...models: string[]) => models.map((model) => ({ model, when: "failed" as const }));
  const described = (built: Registry, model: string) =>
    describePlan(built.plan(model, "chat-completions")).map(
      ({ deployment, model: upstream, role, weight, url }) =>
        [deployment, upstream, role, weight, url].join(" "),
    );

  test("a provider at several places: what one does not say is the provider's", () => {
    const built = registry([keyed()], { settings: () => ({ deployments }) });
    expect(described(built, "a/x")).toEqual([
      "a/eu x target 3 https://a.example/v1/chat/completions",
      "a/us x target 1 https://us.example/v1/chat/completions",
    ]);
    expect(built.providers[0]?.deployments.map(({ credentials }) => credentials)).toEqual([
      { authorization: "Bearer one" },
      { authorization: "Bearer two" },
    ]);
  });

  test("a place without a credential switches the provider off, and says why", () => {
    const settings = () => ({ deployments: [{ name: "eu" }] });
    expect(registry([keyed()], { settings }).off[0]?.reason).toBe("set A to its API key");
  });

  test("routes, aliases and fallbacks, each place once", () => {
    const built = registry(
      [host("a", { models: ["gpt-*"] }), host("b"), host("off", { baseUrl: undefined })],
      {
        aliases: { quick: "b/small", best: "smart" },
        routes: {
          smart: [
            { model: "gpt-5", weight: 2, priority: 0 },
            { model: "quick", weight: 1, priority: 1 },
            { model: "off/x", weight: 1, priority: 0 },
          ],
        },
        fallbacks: {
          "gpt-*": [...failed("b/x"), { model: "b/long", when: "too-long" }],
          "gpt-5": failed("smart", "quick"),
          smart: failed("b/x", "off/x"),
          "*": failed("gpt-5"),
        },
      },
    );
    const at = (name: string) => `https://${name}.example/v1/chat/completions`;
    const smart = [`a gpt-5 target 2 ${at("a")}`, `b small target 1 ${at("b")}`];
    expect(described(built, "smart")).toEqual([...smart, `b x fallback 1 ${at("b")}`]);
    expect(described(built, "best")).toEqual([...smart, `b x fallback 1 ${at("b")}`]);
    expect(described(built, "gpt-5")).toEqual([
      `a gpt-5 target 1 ${at("a")}`,
      `b small fallback 1 ${at("b")}`,
    ]);
    expect(described(built, "gpt-4")).toEqual([
      `a gpt-4 target 1 ${at("a")}`,
      `b x fallback 1 ${at("b")}`,
      `b long larger 1 ${at("b")}`,
    ]);
    expect(described(built, "quick")[1]).toBe(`a gpt-5 fallback 1 ${at("a")}`);
    expect(built.models().map(({ id }) => id)).toEqual(["smart", "quick", "best"]);
    expect(built.resolve("smart", "messages").reason).toBe("route smart to gpt-5; pattern gpt-* of a");
    expect(["smart", "quick", "off/x", "none/x"].map((name) => built.isOff(name))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect([built.faultOf("off/x"), built.faultOf("none/x")]).toEqual([
      undefined,
      expect.stringContaining("No provider serves the model `none/x`"),
    ]);
  });

  test("what decides between targets: by name, alias, route or pattern, the most specific first", () => {
    const target = (model: string) => ({ model, weight: 1, priority: 0 });
    const built = registry([host("a"), host("b")], {
      aliases: { best: "smart" },
      routes: { smart: [target("a/x"), target("b/y")], plain: [target("a/x"), target("b/z")] },
      fallbacks: { "b/q": failed("smart") },
      routing: { "*": "cost", smart: "latency", plain: "weight", "a/*": "usage" },
    });
    const by = (name: string) => built.plan(name, "chat-completions").choices.map((choice) => choice.by);
    expect(by("smart")).toEqual(["latency", "latency"]);
    expect(by("best")).toEqual(["latency", "latency"]);
    expect(by("plain")).toEqual([undefined, undefined]);
    // Nothing is to be decided.
    expect(by("a/x")).toEqual([undefined]);
    expect(["a/x", "b/x", "best", "plain"].map((name) => built.strategyOf(name))).toEqual([
      "usage",
      "cost",
      "latency",
      "weight",
    ]);
    const { choices } = built.plan("smart", "chat-completions");
    expect(choices[0]!.target.reason).toBe("route smart to a/x; pattern a/* of a; by latency");
    const [fallback] = built.plan("b/q", "chat-completions").fallbacks;
    expect(fallback!.map(({ by }) => by)).toEqual(["latency", "latency"]);
  });

  test("a route of which nothing is on says what would switch it on", () => {
    const routes = { smart: [{ model: "off/x", weight: 1, priority: 0 }] };
    const built = registry([host("a"), host("off", { baseUrl: undefined })], { routes });
    expect(() => built.plan("smart", "messages")).toThrow("belongs to off, which is off: set OFF_BASE_URL");
  });
});

test("a pattern with many stars is tested in linear time, whatever name a client writes", () => {
  const names = ["-", "a", "ab"].map((part) => part.repeat(20_000));
  for (const text of ["*-*-*-*-*x", "*a*a*a*a*a*a*bc", "*ab*ab*ab*ab*ab*x/*"]) {
    const pattern = compilePattern(text);
    const began = performance.now();
    for (const name of names) expect([text, pattern.test(name)]).toEqual([text, false]);
    // Some milliseconds; a backtracking expression takes hours.
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});
