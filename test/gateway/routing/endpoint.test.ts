/** Paths, variables and credentials of providers: the URLs they make, and what weir says when one is missing. */
import { describe, expect, test } from "bun:test";
import type { CredentialSource } from "../../../src/core/credential.ts";
import type { Format } from "../../../src/core/format.ts";
import type { Provider } from "../../../src/core/provider.ts";
import { Secret } from "../../../src/core/secret.ts";
import type { DeploymentSettings, ProviderSettings } from "../../../src/core/settings.ts";
import { jsonLines } from "../../../src/stream/framing.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { Registry } from "../../../src/gateway/routing/registry.ts";

const formats: Format[] = [chatCompletionsFormat, messagesFormat];

function registryOf(provider: Provider, settings: ProviderSettings = {}): Registry {
  const plugins = [{ plugin: { name: provider.name, providers: [provider] }, source: "acme.ts" }];
  return new Registry({ plugins, formats, settings: () => settings });
}

const CHAT = "chat-completions";

const acme: Provider = {
  name: "acme",
  baseUrl: "https://{region}.acme.example/v1",
  variables: {
    region: { env: ["ACME_REGION", "REGION"], describe: "the region, such as eu-1" },
    version: { default: "2026-01", describe: "the version of the API" },
  },
  speaks: {
    [CHAT]: { json: "/m/{model}/answer?v={version}", stream: "/m/{model}/stream?v={version}" },
  },
};

const urlsOf = (provider: Provider, settings: ProviderSettings, model = "acme/a:b/c") => {
  const { url, streamUrl } = registryOf(provider, settings).resolve(model, CHAT);
  return [url, streamUrl];
};

describe("URLs", () => {
  test("hold the model and the variables, and streams have their own", () => {
    expect(urlsOf(acme, { variables: { region: "eu-1" } })).toEqual([
      "https://eu-1.acme.example/v1/m/a%3Ab%2Fc/answer?v=2026-01",
      "https://eu-1.acme.example/v1/m/a%3Ab%2Fc/stream?v=2026-01",
    ]);
  });

  test("of each deployment have its own variables", () => {
    const deployments: DeploymentSettings[] = [
      { name: "one", variables: { region: "eu-1" } },
      { name: "two", variables: { region: "us-1", version: "x y" } },
    ];
    const registry = registryOf({ ...acme, speaks: { [CHAT]: "/chat?v={version}" } }, { deployments });
    const { choices } = registry.plan("acme/m", CHAT);
    expect(choices.map(({ target }) => [target.url, target.streamUrl])).toEqual([
      ["https://eu-1.acme.example/v1/chat?v=2026-01", undefined],
      ["https://us-1.acme.example/v1/chat?v=x%20y", undefined],
    ]);
  });

  test("depend on the model, where a host speaks a format for some models only", () => {
    const provider: Provider = {
      name: "acme",
      baseUrl: "https://acme.example",
      speaks: { messages: { json: "/claude/{model}", models: ["claude-*"] }, [CHAT]: "/chat" },
    };
    const found = (model: string, format: string) => registryOf(provider).resolve(model, format);
    expect(found("acme/claude-1", CHAT)).toMatchObject({ format: CHAT, lane: "native" });
    expect(found("acme/claude-1", "messages")).toMatchObject({ lane: "native", format: "messages" });
    expect(found("acme/other", "messages")).toMatchObject({ lane: "translated", format: CHAT });
    expect(found("acme/claude-1", "gemini").url).toBe("https://acme.example/claude/claude-1");
  });

  test("hold the name of the model as the host spells it in the format", () => {
    const spoken = {
      json: "/claude/{model}",
      models: ["claude-*"],
      modelFor: (model: string) => `${model}@1`,
    };
    const provider: Provider = {
      name: "acme",
      baseUrl: "https://acme.example",
      speaks: { messages: spoken, [CHAT]: { json: "/chat", models: ["!claude-*"] } },
    };
    const found = (model: string) => registryOf(provider).resolve(model, CHAT);
    expect(found("acme/claude-1")).toMatchObject({
      ...{ format: "messages", model: "claude-1@1", url: "https://acme.example/claude/claude-1@1" },
    });
    expect(found("acme/other")).toMatchObject({ format: CHAT, model: "other" });
  });

  test("may come from a function of the variables", () => {
    const baseUrl = ({ region }: Readonly<Record<string, string>>) =>
      region === "global" ? "https://acme.example" : `https://${region}.acme.example`;
    const from = (region: string) => urlsOf({ ...acme, baseUrl }, { variables: { region } }, "acme/m")[0];
    expect(from("global")).toBe("https://acme.example/m/m/answer?v=2026-01");
    expect(from("eu")).toBe("https://eu.acme.example/m/m/answer?v=2026-01");
  });

  test("cannot be led to another path by the name of a model", () => {
    const registry = registryOf(acme, { variables: { region: "eu" } });
    for (const model of ["acme/.", "acme/.."])
      expect(() => registry.resolve(model, CHAT)).toThrow("cannot be part of a URL");
    const { url } = registry.resolve("acme/../../x?y#z", CHAT);
    expect(url).toStartWith("https://eu.acme.example/v1/m/..%2F..%2Fx%3Fy%23z/answer");
    expect(new URL(url).href).toBe(url);
  });

  test("of a provider at another base URL need no variable of the plugin's", () => {
    const settings = { baseUrl: "http://127.0.0.1:1" };
    expect(urlsOf(acme, settings, "acme/m")[0]).toBe("http://127.0.0.1:1/m/m/answer?v=2026-01");
  });
});

describe("a model that only some deployments can serve", () => {
  const regional: Provider = {
    ...acme,
    modelFault: (model, { region }) =>
      model.includes(":") && !model.startsWith(`${region}:`) ? `is not in the region ${region}` : undefined,
  };
  const deployments: DeploymentSettings[] = ["eu-1", "us-1"].map((region) => ({
    name: region,
    variables: { region },
  }));
  const registry = registryOf(regional, { deployments });
  const names = (model: string) =>
    registry.plan(model, CHAT).choices.map(({ target }) => target.deployment.name);

  test("goes only to these", () => {
    expect(names("acme/us-1:m")).toEqual(["acme/us-1"]);
    expect(names("acme/m")).toEqual(["acme/eu-1", "acme/us-1"]);
  });

  test("is refused with the reason if there is none, in a request and in the config", () => {
    const says = "The model `acme/ap-1:m` is not in the region eu-1.";
    expect(() => names("acme/ap-1:m")).toThrow(says);
    expect(registry.faultOf("acme/ap-1:m")).toBe(says);
    expect(registry.faultOf("acme/us-1:m")).toBeUndefined();
  });
});

describe("a deployment with models of its own", () => {
  const deployments: DeploymentSettings[] = [
    { name: "small", variables: { region: "eu-1" }, models: ["mini-*", "nano"] },
    { name: "all", variables: { region: "us-1" } },
  ];
  const names = (registry: ReturnType<typeof registryOf>, model: string) =>
    registry.plan(model, CHAT).choices.map(({ target }) => target.deployment.name);

  test("gets calls for these alone, and the others get all", () => {
    const registry = registryOf(acme, { deployments });
    expect(names(registry, "acme/mini-2")).toEqual(["acme/small", "acme/all"]);
    expect(names(registry, "acme/nano")).toEqual(["acme/small", "acme/all"]);
    expect(names(registry, "acme/large")).toEqual(["acme/all"]);
  });

  test("is the reason why a model is refused that no deployment has", () => {
    const registry = registryOf(acme, { deployments: deployments.slice(0, 1) });
    const says = "The model `acme/large` is not among the models of any deployment of acme.";
    expect(() => names(registry, "acme/large")).toThrow(says);
    expect(registry.faultOf("acme/large")).toBe(says);
  });
});

describe("a provider is off with what must be set", () => {
  const reasonOf = (provider: Provider, settings: ProviderSettings = {}) =>
    registryOf(provider, settings).off[0]?.reason;
  const secret = (text = "0123456789") => new Secret(text);
  const signing: Provider = {
    ...acme,
    variables: {},
    baseUrl: "https://acme.example",
    speaks: { [CHAT]: "/c" },
    credentials: [
      ["ACME_TOKEN_FILE", "ACME_ROLE"],
      ["ACME_ID", "ACME_SECRET"],
    ],
    authorize: () => ({}),
  };

  test("a variable without a value", () => {
    expect(reasonOf(acme)).toBe("set ACME_REGION to the region, such as eu-1");
    const unnamed = { ...acme, variables: { region: { describe: "the region" } }, speaks: { [CHAT]: "/c" } };
    expect(reasonOf(unnamed)).toBe("set providers.acme.variables.region to the region");
    expect(reasonOf({ ...acme, apiKey: "ACME_KEY" })).toBe(
      "set ACME_REGION to the region, such as eu-1; set ACME_KEY to its API key",
    );
  });

  test("a variable of the config that one deployment lacks", () => {
    const deployments: DeploymentSettings[] = [{ name: "one", variables: { zone: "a" } }, { name: "two" }];
    const settings = { baseUrl: "https://a.example", speaks: { [CHAT]: "/{zone}/chat" }, deployments };
    const plain: Provider = { name: "plain", speaks: { [CHAT]: "/chat" } };
    expect(reasonOf(plain, settings)).toBe("set providers.plain.variables.zone to a value for its paths");
  });

  test("an address and a credential", () => {
    const hosted: Provider = {
      ...{ name: "hosted", apiKey: "HOSTED_KEY", speaks: { [CHAT]: "/c" } },
      host: { variable: "HOSTED_ENDPOINT", port: 443, path: "/v1" },
    };
    expect(reasonOf(hosted)).toBe(
      "set HOSTED_BASE_URL or HOSTED_ENDPOINT to the address of the server; set HOSTED_KEY to its API key",
    );
  });

  test("the shortest set of credentials", () => {
    expect(reasonOf(signing)).toBe("set ACME_TOKEN_FILE and ACME_ROLE");
    expect(reasonOf(signing, { secrets: { ACME_ID: secret() } })).toBe("set ACME_SECRET");
    const complete = { secrets: { ACME_ID: secret(), ACME_SECRET: secret() } };
    expect(reasonOf(signing, complete)).toBeUndefined();
    expect(registryOf(signing, complete).providers[0]!.deployments[0]!.secretNames).toEqual([
      "ACME_ID",
      "ACME_SECRET",
    ]);
  });

  describe("credentials outside the environment", () => {
    const source: CredentialSource = {
      find: ({ variables, env }) =>
        env["ACME_FILE"] === undefined ? undefined : `${variables["profile"]} of ${env["ACME_FILE"]}`,
      hint: "run `acme login`",
    };
    const filed: Provider = {
      ...signing,
      variables: { profile: { default: "default", describe: "the profile" } },
      credentials: [["ACME_KEY"], source, ["ACME_ID", "ACME_SECRET"]],
    };
    const deploymentOf = (settings: ProviderSettings) =>
      registryOf(filed, settings).providers[0]?.deployments[0];

    test("switch the provider on, and have a name for people", () => {
      const env = { ACME_FILE: "~/.acme" };
      expect(deploymentOf({ env })).toMatchObject({
        secretNames: [],
        credentialSource: "default of ~/.acme",
      });
      expect(deploymentOf({ env, variables: { profile: "work" } })?.credentialSource).toBe("work of ~/.acme");
    });

    test("count in their place among the sets", () => {
      const env = { ACME_FILE: "~/.acme" };
      const pair = { ACME_ID: secret(), ACME_SECRET: secret() };
      expect(deploymentOf({ env, secrets: pair })?.credentialSource).toBe("default of ~/.acme");
      const all = { ...pair, ACME_KEY: secret() };
      expect(deploymentOf({ env, secrets: all })?.secretNames).toEqual(["ACME_KEY"]);
    });

    test("are offered beside the shortest set if there are none", () => {
      expect(reasonOf(filed, { env: {} })).toBe("set ACME_KEY, or run `acme login`");
      expect(reasonOf({ ...filed, credentials: [source] })).toBe("run `acme login`");
    });
  });

  test("a variable that the plugin finds by itself, unless the operator sets it", () => {
    const found: Provider = {
      ...acme,
      variables: {
        ...acme.variables,
        region: { describe: "the region", find: ({ variables, env }) => env[variables["version"]!] },
      },
    };
    expect(reasonOf(found, { env: {} })).toContain("to the region");
    const env = { "2026-01": "eu-7", other: "eu-8" };
    expect(urlsOf(found, { env })[0]).toContain("https://eu-7.acme");
    expect(urlsOf(found, { env, variables: { version: "other" } })[0]).toContain("https://eu-8.acme");
    expect(urlsOf(found, { env, variables: { region: "eu-1" } })[0]).toContain("https://eu-1.acme");
  });

  test("unless the config sets the header with the credential", () => {
    const [provider] = registryOf(signing, { headers: { authorization: "Bearer x" } }).providers;
    expect(provider!.deployments[0]).toMatchObject({ credentials: { authorization: "Bearer x" } });
    expect(provider!.deployments[0]!.authorizer).toBeUndefined();
  });

  test("alternative names of one key", () => {
    const keyed: Provider = { ...signing, authorize: undefined, credentials: [["ACME_KEY"], ["OTHER_KEY"]] };
    const [provider] = registryOf(keyed, { secrets: { OTHER_KEY: secret("k-2") } }).providers;
    expect(provider!.deployments[0]!.credentials).toEqual({ authorization: "Bearer k-2" });
  });
});

test("a config that replaces the formats of a plugin may leave out one that the plugin frames", () => {
  const framed = { ...acme, speaks: { ...acme.speaks, messages: "/m" }, framing: { messages: jsonLines } };
  const settings = { variables: { region: "eu" }, speaks: { [CHAT]: "/chat" } };
  expect(urlsOf(framed, settings)).toEqual(["https://eu.acme.example/v1/chat", undefined]);
});

describe("a mistake in the declaration is a sentence at the start", () => {
  const rows: [change: Partial<Provider>, says: string][] = [
    [
      { speaks: { [CHAT]: "/m/{modle}/c" } },
      'the path of "chat-completions" holds the unknown placeholder {modle}, did you mean model?',
    ],
    [
      { speaks: { [CHAT]: { json: "/c", stream: "/{zone}" } } },
      "holds the unknown placeholder {zone}; the known ones are {model}, {region}, {version}.",
    ],
    [{ speaks: { [CHAT]: "/c}" } }, "holds a brace that belongs to no placeholder."],
    [
      { speaks: { [CHAT]: { json: "/c", stream: "c" } } },
      'the path of "chat-completions" must begin with a slash.',
    ],
    [{ speaks: { [CHAT]: "/c#x" } }, "must not have a fragment."],
    [{ baseUrl: "https://{model}.acme.example" }, "its baseUrl holds the unknown placeholder {model}"],
    [{ variables: { model: { describe: "x" } } }, "it has a variable named model"],
    [{ framing: { messages: jsonLines } }, 'it has a framing for "messages", which it does not speak.'],
    [{ credentials: [["A", "B"]] }, "each set of its credentials must be a list with one name"],
    [{ speaks: undefined, async *generate() {} }, "it has variables, which only hosts can have."],
  ];
  for (const [change, says] of rows)
    test(says, () => {
      expect(() => registryOf({ ...acme, ...change })).toThrow(says);
    });
});
