/** What every provider promises, as one suite: the built-in ones run through it, and one of a plugin can. */
import { isVariableList } from "../../src/core/settings.ts";
import { beforeAll, describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { Provider } from "../../src/core/provider.ts";
import { variableName } from "../../src/core/settings.ts";
import { Registry } from "../../src/gateway/routing/registry.ts";
import { tasksOf } from "../../src/gateway/routing/tasks.ts";
import { hasRequests } from "../../src/core/model-kind.ts";
import { kinds } from "../../src/kinds/index.ts";
import { createExplainer, type Explainer } from "./explainer.ts";
import { fixturesOf } from "./fixtures.ts";
import { isNamed, stepsOf } from "./json-path.ts";

export interface ProviderOptions {
  /** Its part of the config. Default: an API key, and a base URL if it has none of its own. */
  settings?: JsonObject;
  /** Plugin files that declare it: name → text. A built-in provider needs none. */
  plugins?: Record<string, string>;
}

const KEY = "canary-0123456789abcdef";
/** Nobody listens there, and nothing is sent. */
const NOWHERE = "http://127.0.0.1:9/v1";
const CLIENTS = ["chat-completions", "messages"];
const KINDS = new Map(kinds.map((kind) => [kind.id as string, kind]));
/** What a request of a kind has beside the model. */
const ASKED: Readonly<Record<string, JsonObject>> = {
  rerank: { query: "hi", documents: ["hi", "ho"] },
  moderation: { input: "hi" },
  image: { prompt: "a red cat" },
  cache: { model: "models/m", contents: [{ role: "user", parts: [{ text: "hi" }] }], ttl: "60s" },
  speech: { input: "hi", voice: "alloy" },
  decision: { input: "hi", questions: [{ type: "predicate", instructions: "It is a greeting." }] },
};

export function describeProvider(provider: Provider, options: ProviderOptions = {}): void {
  const { name, speaks, embeds, catalog = [], models = [] } = provider;
  const { plugins, settings = defaultsOf(provider) } = options;
  const formats = Object.keys(speaks ?? {});
  /** A provider may only embed. */
  const generates = speaks !== undefined || provider.generate !== undefined;
  /** As a client asks for it. */
  const named = catalog.length > 0 ? catalog.map((model) => `${name}/${model}`) : [`${name}/some-model`];

  describe(`the provider ${name}`, () => {
    let explainer: Explainer;

    beforeAll(async () => {
      explainer = await createExplainer({ config: { providers: { [name]: settings } }, plugins });
    });

    /** @throws Error with the refusal */
    async function served(format: string, body: JsonObject) {
      const seen = await explainer.explain(format, body);
      if ("refused" in seen) throw new Error(`${name} refuses ${format}: ${JSON.stringify(seen.refused)}`);
      return seen.sent;
    }

    const embedded = (model: string) => served("embeddings", { model, input: ["hi"] });
    const askedFor = (model: string) => {
      const [task] = tasksOf(provider, model.replace(`${name}/`, ""), KINDS).does;
      if (task === "chat") return served("chat-completions", plainRequest(model));
      if (task === "embedding") return embedded(model);
      if (task === "completion") return served("completions", { model, prompt: "hi" });
      const kind = KINDS.get(task!)!;
      if (hasRequests(kind)) return served(kind.routes[0]!.path, { model, ...ASKED[task!] });
      // What has sessions has no request to explain.
      const [choice] = explainer.registry.plan(model, kind.dialects[0]!.id, task).choices;
      const { provider: serving, model: asked } = choice!.target;
      return { served_by: { provider: serving.name, model: asked } };
    };

    test("has environment variables that begin with its name", () => {
      // Two versions of one API share a key: `azure` and `azure-dated`.
      const prefix = variableName(name.split("-")[0]!, "API_KEY").slice(0, -"API_KEY".length);
      if (provider.apiKey !== undefined) expect(provider.apiKey).toStartWith(prefix);
    });

    test("is off until what it needs is set, and says which variable that is", () => {
      const { off } = new Registry({
        plugins: [{ plugin: { name, providers: [provider] }, source: "test" }],
        formats: [...explainer.formats.values()],
        settings: () => ({}),
      });
      const needed = neededBy(provider);
      expect(off.length > 0).toBe(needed.length > 0);
      if (off[0]) expect(needed.filter((variable) => off[0]!.reason.includes(variable))).not.toEqual([]);
    });

    test("lists models without its own prefix, each once", () => {
      expect(new Set(catalog).size).toBe(catalog.length);
      expect(catalog.filter((model) => model.startsWith(`${name}/`))).toEqual([]);
      expect(new Set(models).size).toBe(models.length);
    });

    test("serves every model that it lists, and every name that its patterns match", async () => {
      const matching = models.map((pattern) => pattern.replaceAll("*", "some-model"));
      // The request for a transcription is a form: `test/wire/transcriptions.test.ts` explains one.
      const hears = (model: string) =>
        tasksOf(provider, model.replace(`${name}/`, ""), KINDS).does[0] === "transcription";
      for (const model of [...named, ...matching].filter((one) => !hears(one))) {
        const { served_by } = await askedFor(model);
        expect([model, served_by.provider]).toEqual([model, name]);
        if (model.startsWith(`${name}/`)) expect(served_by.model).toBe(model.slice(name.length + 1));
      }
    });

    for (const [dialect, endpoint] of Object.entries(embeds ?? {}))
      test(`embeds in the dialect ${dialect}`, async () => {
        const [pattern = "some-model"] = typeof endpoint === "string" ? [] : (endpoint.models ?? []);
        const { served_by, request } = await embedded(`${name}/${pattern.replaceAll("*", "x-")}`);
        expect(served_by.format).toBe(dialect);
        expect(request!.url).not.toMatch(/[^:]\/\/|\{|\}|\/v1\/v1/);
        expect(JSON.stringify(request)).not.toContain(KEY);
      });

    if (!generates) return;
    const chats = named.filter((model) =>
      tasksOf(provider, model.replace(`${name}/`, ""), KINDS).does.includes("chat"),
    );

    for (const format of CLIENTS)
      test(`serves ${format} clients in a format that it speaks, in their own if it can`, async () => {
        const { served_by, request } = await served(format, plainRequest(chats[0]!));
        if (!speaks) return expect([served_by.lane, request]).toEqual(["generated", null]);
        const isOwn = formats.includes(format);
        expect(served_by.lane).toBe(isOwn ? "native" : "translated");
        expect(isOwn ? [format] : formats).toContain(served_by.format!);
        expect(new URL(request!.url).protocol).toMatch(/^https?:$/);
        expect(request!.url).not.toMatch(/[^:]\/\/|\{|\}|\/v1\/v1/);
      });

    for (const format of formats.filter((id) => CLIENTS.includes(id)))
      test(`reports each member of a ${format} request that it removes`, async () => {
        const native: string[] = [];
        for (const model of chats)
          if ((await served(format, plainRequest(model))).served_by.lane === "native") native.push(model);
        // A patch may treat every model in its own way.
        for (const [body, about] of requestsOf(format, provider.patch ? native : native.slice(0, 1))) {
          const { request, losses } = await served(format, body);
          const sent = request!.body;
          for (const [member, value] of Object.entries(body)) {
            if (sent[member] !== undefined || IN_URL.has(member)) continue;
            const isReported = losses.some(({ path }) => stepsOf(path)[0] === member);
            expect([about, member, isReported || isRenamed(value!, body, sent)]).toEqual([
              about,
              member,
              true,
            ]);
          }
        }
      });

    for (const format of CLIENTS)
      test(`names losses by members of the ${format} client's request`, async () => {
        const known = Object.keys(
          explainer.formats.get(format)!.client!.request.schema.properties as JsonObject,
        );
        for (const [body, about] of requestsOf(format, chats.slice(0, 1))) {
          const seen = await explainer.explain(format, body);
          if ("refused" in seen) continue;
          const wrong = seen.sent.losses.filter(({ path }) => !isNamed(path, body, known));
          expect([about, wrong]).toEqual([about, []]);
        }
      });

    test("shows no credential in what weir explains", async () => {
      for (const format of CLIENTS)
        expect(JSON.stringify(await served(format, plainRequest(chats[0]!)))).not.toContain(KEY);
    });
  });
}

/** Members that a host may take in its URL instead of the body. */
const IN_URL: ReadonlySet<string> = new Set(["model", "stream"]);

function defaultsOf({ baseUrl, embeds, speaks, credentials = [], variables = {} }: Provider): JsonObject {
  if (!speaks && !embeds) return {};
  const [names] = credentials.filter(isVariableList);
  const secrets = names && Object.fromEntries(names.map((name) => [name, KEY]));
  const values = Object.entries(variables).flatMap(([name, variable]) =>
    variable.default === undefined ? [[name, "some-value"]] : [],
  );
  return {
    ...(secrets ? { secrets } : { apiKey: KEY }),
    ...(baseUrl === undefined && { baseUrl: NOWHERE }),
    ...(values.length > 0 && { variables: Object.fromEntries(values) as JsonObject }),
  };
}

/** The environment variables without which the provider is off. */
function neededBy({
  name,
  apiKey,
  host,
  baseUrl,
  speaks,
  embeds,
  credentials = [],
  variables = {},
}: Provider): string[] {
  const address =
    (speaks ?? embeds) && baseUrl === undefined ? [variableName(name, "BASE_URL"), host?.variable] : [];
  const all = [apiKey, ...credentials.filter(isVariableList).flat(), ...Object.keys(variables), ...address];
  return all.filter((variable) => variable !== undefined);
}

function plainRequest(model: string): JsonObject {
  return { model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
}

/** Every request of `test/fixtures`, for the models in turn. */
function requestsOf(format: string, models: readonly string[]): [body: JsonObject, about: string][] {
  return fixturesOf("requests", format).flatMap(({ name, text }) =>
    models.map((model): [JsonObject, string] => [
      { ...(JSON.parse(text) as JsonObject), model },
      `${name} for ${model}`,
    ]),
  );
}

/** Whether a value was sent under a name that the client did not use. */
function isRenamed(value: Json, body: JsonObject, sent: JsonObject): boolean {
  return Object.entries(sent).some(
    ([name, other]) => body[name] === undefined && Bun.deepEquals(other, value),
  );
}
