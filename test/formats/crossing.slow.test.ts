/**
 * Every request in `test/fixtures` goes to a provider of every format, and every answer to a client of every format.
 * `UPDATE=1 bun test test/formats/crossing.slow.test.ts` writes the snapshots anew.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { builtInFormats } from "../../src/run/formats.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import {
  type Fixture,
  type FixtureKind,
  fixturesOf,
  expectSnapshot,
  staleSnapshots,
} from "../helpers/fixtures.ts";
import { isNamed } from "../helpers/json-path.ts";
import { explain } from "../helpers/explained.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { awsStream } from "../helpers/aws-event-stream.ts";
import { type Answer, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { BEHIND_ERROR, streamedText } from "../helpers/streamed.ts";
import { writeJson } from "../helpers/write-json.ts";

/** A format with a client codec. */
interface Side {
  /** `{model}` stands for the model name. */
  path: string;
  /** Path of requests for streams, where the body does not ask for them. */
  streamPath?: string;
  /** A model of the format's own vendor; absent if no provider speaks the format. */
  model?: string;
  /** The request of a client whose answers are compared. */
  request: JsonObject;
  /** What it adds to ask for a stream. */
  streaming: JsonObject;
}

const PARAMETERS = { type: "object", properties: {} };
const MESSAGES = [{ role: "user", content: "Go." }];

const SIDES: Record<string, Side> = {
  "chat-completions": {
    path: "/v1/chat/completions",
    model: "openai/gpt-5.4",
    request: {
      max_tokens: 100,
      tools: ["weather", "clock"].map((name) => ({
        type: "function",
        function: { name, parameters: PARAMETERS },
      })),
      messages: MESSAGES,
    },
    streaming: { stream: true, stream_options: { include_usage: true } },
  },
  messages: {
    path: "/v1/messages",
    model: "anthropic/claude-opus-4-6",
    request: {
      max_tokens: 100,
      tools: ["weather", "clock"].map((name) => ({ name, input_schema: PARAMETERS })),
      messages: MESSAGES,
    },
    streaming: { stream: true },
  },
  responses: {
    path: "/v1/responses",
    model: "reasoner/gpt-5.4",
    request: {
      max_output_tokens: 100,
      tools: ["weather", "clock"].map((name) => ({ type: "function", name, parameters: PARAMETERS })),
      input: MESSAGES,
    },
    streaming: { stream: true },
  },
  gemini: {
    path: "/v1beta/models/{model}:generateContent",
    streamPath: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    model: "gemini/gemini-3-flash-preview",
    request: {
      contents: [{ role: "user", parts: [{ text: "Go." }] }],
      tools: [
        {
          functionDeclarations: ["weather", "clock"].map((name) => ({
            name,
            parametersJsonSchema: PARAMETERS,
          })),
        },
      ],
      generationConfig: { maxOutputTokens: 100, thinkingConfig: { includeThoughts: true } },
    },
    streaming: {},
  },
  ollama: {
    path: "/api/chat",
    request: {
      messages: MESSAGES,
      tools: ["weather", "clock"].map((name) => ({
        type: "function",
        function: { name, parameters: PARAMETERS },
      })),
      options: { num_predict: 100 },
      stream: false,
    },
    streaming: { stream: true },
  },
};
const CLIENTS = Object.keys(SIDES);

/**
 * Formats of which only the requests are crossed: the answers are those of another format with other names of members, which
 * has tests of its own.
 */
const REQUESTS_ONLY = ["ollama-generate"];
/** Only clients of the format itself ask its providers in it: `test/wire/interactions.test.ts` shows what others get. */
const APART = ["interactions"];
const REQUESTING = [...CLIENTS, ...REQUESTS_ONLY];

/** A model of each format that a provider can speak. */
const MODELS: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(SIDES).flatMap(([format, { model }]) => (model === undefined ? [] : [[format, model]])),
  ),
  converse: "converser/us.anthropic.claude-haiku-4-5-20251001-v1:0",
};
const FORMATS = Object.keys(MODELS);

/** Providers of the formats that no built-in provider speaks at a base URL of the config alone. */
const PROVIDERS = `import { converse, definePlugin } from "weir";
  export default definePlugin({ name: "providers", providers: [
    converse({ name: "converser", apiKey: "CONVERSER_API_KEY", baseUrl: "https://converser.example" }),
  ] });`;

/** The provider's own name of its model. */
const bare = (format: string) => MODELS[format]!.split("/")[1]!;

/** What the body of a format says of the model. */
const named = (format: string) => (SIDES[format]?.streamPath ? {} : { model: bare(format) });

/** Rows for `test.each`. */
function casesOf(kind: FixtureKind, format: string): [string, Fixture][] {
  return fixturesOf(kind, format).map((fixture) => [fixture.name, fixture]);
}

describe("a request", () => {
  /** A hook keeps requests of the same format out of the native lane. */
  const HOOK = `import { definePlugin } from "weir";
    export default definePlugin({ name: "observer", hooks: { request() {} } });`;
  let native: RunningGateway;
  let translated: RunningGateway;

  beforeAll(async () => {
    const apiKey = "sk-none-0123456789";
    const openai = { apiKey, speaks: "chat-completions" };
    const reasoner = { apiKey, speaks: "responses", baseUrl: "https://reasoner.example/v1" };
    const config = {
      providers: { openai, reasoner, anthropic: { apiKey }, converser: { apiKey }, gemini: { apiKey } },
    };
    const plugins = { "providers.ts": PROVIDERS };
    native = await startGateway({ config, target: "source", plugins });
    translated = await startGateway({
      config,
      target: "source",
      plugins: { ...plugins, "observer.ts": HOOK },
    });
  });

  afterAll(async () => {
    await native.stop();
    await translated.stop();
  });

  /** What weir would send, or the error that the client gets. */
  const send = ({ url }: RunningGateway, fixture: Fixture, model: string) =>
    explain(url, fixture.format, { ...(JSON.parse(fixture.text) as JsonObject), model });

  for (const format of REQUESTING)
    for (const other of FORMATS)
      describe(`of a ${format} client to a ${other} provider is the snapshot, losses included`, () => {
        test.each(casesOf("requests", format))("%s", async (_name, fixture) => {
          const seen = await send(translated, fixture, MODELS[other]!);
          if ("refused" in seen) return expectSnapshot(fixture, other, `${writeJson(seen)}\n`);
          const { body } = seen.sent.request!;
          const members = Object.keys(
            native.formats.get(format)!.client!.request.schema.properties as JsonObject,
          );
          const given = JSON.parse(fixture.text) as JsonObject;
          expect(seen.sent.losses.filter(({ path }) => !isNamed(path, given, members))).toEqual([]);
          const losses = seen.sent.losses.map(
            ({ code, path, note }) => `${code} ${path}${note ? `: ${note}` : ""}`,
          );
          const isUnchanged = losses.length === 0 && Bun.deepEquals(body, { ...given, ...named(other) });
          expectSnapshot(fixture, other, isUnchanged ? fixture.text : `${writeJson({ losses, body })}\n`);
        });
      });

  for (const format of CLIENTS.filter((one) => FORMATS.includes(one)))
    describe(`of a ${format} client passes to a provider of that format unchanged`, () => {
      test.each(casesOf("requests", format))("%s", async (_name, fixture) => {
        const seen = await send(native, fixture, MODELS[format]!);
        if ("refused" in seen) throw new Error(JSON.stringify(seen.refused));
        const { changed = [], body } = seen.sent.request!;
        const given = JSON.parse(fixture.text) as JsonObject;
        const others = Object.fromEntries(changed.map((name) => [name, body[name]]));
        expect(body).toEqual({ ...given, ...named(format), ...others });
        // Only signatures of other vendors do not pass.
        const { sealedMark = "weir1." } = native.formats.get(format)!.upstream!.native;
        expect(seen.sent.losses.length > 0).toBe(fixture.text.includes(`"${sealedMark}`));
      });
    });
});

describe("an answer", () => {
  let gateway: RunningGateway;
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = startUpstream(() => ({}));
    const { providers } = upstreamConfig({ openai: upstream.url, anthropic: upstream.url });
    const reasoner = { apiKey: UPSTREAM_KEYS.openai, speaks: "responses", baseUrl: `${upstream.url}/v1` };
    const openai = { ...(providers["openai"] as object), speaks: "chat-completions" };
    const converser = { apiKey: UPSTREAM_KEYS.openai, baseUrl: upstream.url };
    const gemini = { apiKey: UPSTREAM_KEYS.openai, baseUrl: upstream.url };
    const config = {
      providers: { ...providers, openai, reasoner, converser, gemini },
      retries: { attempts: 1 },
    };
    gateway = await startGateway({ config, target: "source", plugins: { "providers.ts": PROVIDERS } });
  });

  afterAll(async () => {
    await gateway.stop();
    upstream.stop();
  });

  /** What a client of the format gets when the provider of the case answers. */
  async function ask(fixture: Fixture, answer: Answer, format: string): Promise<string> {
    upstream.answer(() => answer);
    const { path, streamPath, request, streaming } = SIDES[format]!;
    const stream = fixture.kind === "streams";
    const model = MODELS[fixture.format]!;
    const asked = ((stream && streamPath) || path).replace("{model}", model);
    const body = { ...(streamPath === undefined && { model }), ...request, ...(stream && streaming) };
    const response = await post(gateway.url + asked, body);
    const text = withoutChance(await streamedText(response), fixture.format !== "converse");
    if (response.ok && stream) return text;
    const answered = JSON.parse(text) as Json;
    if (response.ok) return `${writeJson(answered)}\n`;
    const headers = pick(response.headers, ["retry-after", "x-should-retry"]);
    const isBare = Object.keys(headers).length === 0;
    return `${writeJson({ status: response.status, ...(!isBare && { headers }), body: answered })}\n`;
  }

  for (const format of FORMATS)
    for (const other of CLIENTS) {
      describe(`of a ${format} provider to a ${other} client is the snapshot`, () => {
        test.each(casesOf("answers", format))("%s", async (_name, fixture) => {
          const answer = { headers: { "content-type": "application/json" }, body: fixture.text };
          expectSnapshot(fixture, other, await ask(fixture, answer, other));
        });
      });
      describe(`in a stream of a ${format} provider to a ${other} client is the snapshot`, () => {
        test.each(casesOf("streams", format))("%s", async (_name, fixture) => {
          expectSnapshot(fixture, other, await ask(fixture, streamOf(fixture), other));
        });
      });
      describe(`with an error of a ${format} provider to a ${other} client is the snapshot`, () => {
        test.each(casesOf("errors", format))("%s", async (_name, fixture) => {
          const { status, headers = {}, body } = JSON.parse(fixture.text) as ErrorCase;
          const isText = typeof body === "string";
          const answer = {
            status,
            headers: { "content-type": isText ? "text/html" : "application/json", ...headers },
            body: isText ? body : JSON.stringify(body),
          };
          expectSnapshot(fixture, other, await ask(fixture, answer, other));
        });
      });
    }
});

/** The answer of a host that streams the fixture. */
function streamOf({ format, text }: Fixture): Answer {
  if (format !== "converse") return sse([text]);
  const body = awsStream(parseFrames(Buffer.from(text)));
  return {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
    body: [body],
    framing: "chunked",
  };
}

interface ErrorCase {
  status: number;
  headers?: Record<string, string>;
  body: Json;
}

function post(url: string, body: JsonObject): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/**
 * The text without times, with numbers for the ids that weir makes, and without the comments that it sends after an error
 * event until it closes the connection.
 * @param hasIds answers of the provider have an id, from which weir derives those of its own
 */
function withoutChance(text: string, hasIds: boolean): string {
  const ids: string[] = [];
  const numbered = text.replace(/\b(call|toolu|req)_[\w-]{24}/g, (id, kind: string) => {
    if (!ids.includes(id)) ids.push(id);
    return `${kind}_${ids.indexOf(id) + 1}_of_weir`;
  });
  return numbered
    .replace(/\b([a-z]+)_w1[a-z2-7]+/g, "$1_of_weir")
    .replace(hasIds ? /$^/ : /\b(msg_|chatcmpl-)(?:[0-9a-f]{24}|(?<=-)[\w-]{24})/g, "$1of_weir")
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":1700000000')
    .replace(/"created_at":"[^"]+"/g, '"created_at":"2023-11-14T22:13:20.000Z"')
    .replace(/"((?:total|eval|prompt_eval)_duration)":\d+/g, '"$1":1')
    .replace(BEHIND_ERROR, "");
}

function pick(headers: Headers, names: readonly string[]): JsonObject {
  const found = names.filter((name) => headers.has(name));
  return Object.fromEntries(found.map((name) => [name, headers.get(name)]));
}

test("every built-in format is crossed", () => {
  // Formats of another kind carry no conversations.
  const formats = builtInFormats({ systemTurns: "accept" }).filter(
    ({ id, kind }) => kind === undefined && !APART.includes(id),
  );
  const withClient = formats.filter(({ client }) => client).map(({ id }) => id);
  const withUpstream = formats.filter(({ upstream }) => upstream).map(({ id }) => id);
  expect(REQUESTING.toSorted()).toEqual(withClient.toSorted());
  expect(FORMATS.toSorted()).toEqual(withUpstream.toSorted());
});

test("every snapshot belongs to a case and a format", () => {
  for (const kind of ["answers", "streams", "errors"] as const)
    expect(staleSnapshots(kind, CLIENTS)).toEqual([]);
  expect(staleSnapshots("requests", FORMATS)).toEqual([]);
});
