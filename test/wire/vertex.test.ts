/** Vertex: weir's requests beside those of Google's SDK, its addresses, its credentials and its tokens. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GoogleGenAI } from "@google/genai";
import { explain } from "../helpers/explained.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

const TOKEN = "vertex-token-canary-0123456789";
const ANSWER = {
  candidates: [{ content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: "gemini-2.5-flash",
  responseId: "r1",
};
const COMPLETION = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "meta/llama" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

function answering({ path }: UpstreamRequest) {
  if (path.includes("/chat/completions")) return json(COMPLETION);
  return path.includes(":stream") ? sse([`data: ${JSON.stringify(ANSWER)}\r\n\r\n`]) : json(ANSWER);
}

let host: Upstream;
let gateway: RunningGateway;

beforeEach(() => {
  host = startUpstream(answering);
});

afterEach(async () => {
  await gateway.stop();
  host.stop();
});

interface Start {
  env?: Record<string, string>;
  variables?: Record<string, string>;
}

async function start({ env = {}, variables = {} }: Start = {}): Promise<void> {
  const settings = { baseUrl: host.url, variables: { project: "p", ...variables } };
  gateway = await startGateway({
    env,
    config: {
      providers: {
        vertex: settings,
        "vertex-openai": settings,
        "vertex-express": { baseUrl: host.url },
      },
    },
  });
}

const hi = [{ role: "user" as const, content: "hi" }];
const ask = (model: string, stream = false) => {
  const { completions } = openaiClient(gateway.url).chat;
  return stream
    ? completions.stream({ model, messages: hi }).finalChatCompletion()
    : completions.create({ model, messages: hi });
};

function seen(request: UpstreamRequest | undefined) {
  return {
    path: request?.path,
    authorization: request?.headers.get("authorization"),
    key: request?.headers.get("x-goog-api-key"),
    type: request?.headers.get("content-type"),
  };
}

describe("weir's requests are those of Google's SDK", () => {
  const authClient = {
    getRequestHeaders: () => Promise.resolve(new Headers({ authorization: `Bearer ${TOKEN}` })),
  };

  for (const location of ["global", "us", "eu", "europe-west1"])
    for (const stream of [false, true])
      test(`in the location ${location}${stream ? ", a stream" : ""}`, async () => {
        await start({ env: { VERTEX_ACCESS_TOKEN: TOKEN }, variables: { location } });
        const { models } = new GoogleGenAI({
          ...{ vertexai: true, project: "p", location },
          httpOptions: { baseUrl: host.url },
          googleAuthOptions: { authClient: authClient as never },
        });
        const request = { model: "gemini-2.5-flash", contents: "hi" };
        if (stream) for await (const _ of await models.generateContentStream(request));
        else await models.generateContent(request);
        const answer = await ask("vertex/gemini-2.5-flash", stream);
        expect(answer.choices[0]!.message.content).toBe("hello");
        const [sdk, weir] = host.requests;
        expect(seen(weir)).toEqual(seen(sdk));
        // A compressed stream would arrive in batches.
        if (stream) expect(weir!.headers.get("accept-encoding")).toBe("identity");
        expect(JSON.parse(weir!.body.toString())).toMatchObject(JSON.parse(sdk!.body.toString()) as object);
      });

  test("with an API key", async () => {
    await start({ env: { VERTEX_API_KEY: "express-canary-0123456789" } });
    const { models } = new GoogleGenAI({
      ...{ vertexai: true, apiKey: "express-canary-0123456789" },
      httpOptions: { baseUrl: host.url },
    });
    await models.generateContent({ model: "gemini-2.5-flash", contents: "hi" });
    await ask("vertex-express/gemini-2.5-flash");
    const [sdk, weir] = host.requests;
    expect(seen(weir)).toEqual(seen(sdk));
    expect(weir!.path).not.toContain("canary");
  });
});

describe("what Vertex takes and AI Studio does not", () => {
  beforeEach(() => start({ env: { VERTEX_ACCESS_TOKEN: TOKEN } }));

  interface Sent {
    contents: { parts: { functionCall?: object; functionResponse?: object; fileData?: object }[] }[];
  }
  const sentParts = () =>
    (JSON.parse(host.requests.at(-1)!.body.toString()) as Sent).contents.flatMap(({ parts }) => parts);

  test("ids of calls only where its own answer had one", async () => {
    const functionCall = { id: "own-1", name: "weather", args: {} };
    const calling = {
      ...ANSWER,
      candidates: [{ content: { parts: [{ functionCall }] }, finishReason: "STOP" }],
    };
    host.answer(() => json(calling));
    const { completions } = openaiClient(gateway.url).chat;
    const model = "vertex/gemini-2.5-flash";
    const { choices } = await completions.create({ model, messages: hi });
    const { message } = choices[0]!;
    const foreign = {
      ...{ id: "call_abc", type: "function" as const },
      function: { name: "clock", arguments: "{}" },
    };
    await completions.create({
      model,
      messages: [
        ...hi,
        { role: "assistant", tool_calls: [foreign] },
        { role: "tool", tool_call_id: "call_abc", content: "noon" },
        ...hi,
        message,
        { role: "tool", tool_call_id: message.tool_calls![0]!.id, content: "rain" },
      ],
    });
    const calls = sentParts().flatMap((part) => part.functionCall ?? []);
    const results = sentParts().flatMap((part) => part.functionResponse ?? []);
    expect(calls).toEqual([{ name: "clock", args: {} }, functionCall]);
    expect(results.map((result) => "id" in result)).toEqual([false, true]);
    expect(results[1]).toMatchObject({ id: "own-1" });
  });

  test("media at public addresses and in Cloud Storage, by their addresses", async () => {
    const url = "https://images.example.com/cat.png";
    await openaiClient(gateway.url).chat.completions.create({
      model: "vertex/gemini-2.5-flash",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    expect(sentParts().flatMap((part) => part.fileData ?? [])).toMatchObject([{ fileUri: url }]);
  });
});

test("the bytes of a Google client's request stay as they are", async () => {
  await start({ env: { VERTEX_ACCESS_TOKEN: TOKEN } });
  const body = '{ "contents" : [{"role":"user","parts":[{"text":"h\\u0069"}]}], "labels":{"a":"b"} }';
  const response = await fetch(`${gateway.url}/v1beta/models/vertex%2Fgemini-2.5-flash:generateContent`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect([response.headers.get("x-weir-lane"), await response.json()]).toEqual(["native", ANSWER]);
  expect(host.requests[0]!.body.toString()).toBe(body);
});

test("a Google client's count of tokens is Vertex's, without the members that Vertex refuses", async () => {
  await start({ env: { VERTEX_ACCESS_TOKEN: TOKEN } });
  host.answer(() => json({ totalTokens: 42 }));
  const body = {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
  };
  for (const sent of [body, { generateContentRequest: { model: "models/x", ...body } }]) {
    const response = await fetch(`${gateway.url}/v1beta/models/vertex%2Fgemini-2.5-flash:countTokens`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
    });
    expect(await response.json()).toEqual({ totalTokens: 42 });
    const request = host.requests.at(-1)!;
    expect(request.path).toBe(
      "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:countTokens",
    );
    expect(JSON.parse(request.body.toString())).toEqual({ contents: body.contents });
  }
});

test("models of other publishers are asked in the words of OpenAI", async () => {
  await start({ env: { VERTEX_ACCESS_TOKEN: TOKEN } });
  await ask("vertex-openai/meta/llama-4-maverick-17b-128e-instruct-maas");
  const [request] = host.requests;
  expect(request!.path).toBe("/v1/projects/p/locations/global/endpoints/openapi/chat/completions");
  expect(JSON.parse(request!.body.toString())).toMatchObject({
    model: "meta/llama-4-maverick-17b-128e-instruct-maas",
  });
});

describe("each location has its host", () => {
  const rows: [location: string, host: string][] = [
    ["global", "aiplatform.googleapis.com"],
    ["us", "aiplatform.us.rep.googleapis.com"],
    ["eu", "aiplatform.eu.rep.googleapis.com"],
    ["europe-west1", "europe-west1-aiplatform.googleapis.com"],
  ];
  for (const [location, name] of rows)
    test(`${location}: ${name}`, async () => {
      const env = {
        VERTEX_ACCESS_TOKEN: TOKEN,
        GOOGLE_CLOUD_PROJECT: "my-project",
        GOOGLE_CLOUD_LOCATION: location,
      };
      gateway = await startGateway({ env });
      const urlOf = async (model: string) => {
        const seen = await explain(gateway.url, "chat-completions", { model, messages: hi });
        expect(JSON.stringify(seen)).not.toContain(TOKEN);
        return (seen as { sent: { request: { url: string } } }).sent.request.url;
      };
      expect(await urlOf("vertex/gemini-2.5-flash")).toBe(
        `https://${name}/v1beta1/projects/my-project/locations/${location}/publishers/google/models/gemini-2.5-flash:generateContent`,
      );
      expect(await urlOf("vertex/a/../b%2F c:d")).toBe(
        `https://${name}/v1beta1/projects/my-project/locations/${location}/publishers/google/models/a%2F..%2Fb%252F%20c%3Ad:generateContent`,
      );
      expect(await urlOf("vertex-openai/google/gemini-2.5-flash")).toBe(
        `https://${name}/v1/projects/my-project/locations/${location}/endpoints/openapi/chat/completions`,
      );
    });
});

describe("a service account", () => {
  let folder: string;
  let login: Upstream;
  let issued: number;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-vertex-"));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeEach(() => {
    issued = 0;
    login = startUpstream(async () => {
      issued++;
      await Bun.sleep(20);
      return json({ access_token: `${TOKEN}-${issued}`, expires_in: 3600, token_type: "Bearer" });
    });
  });

  afterEach(() => login.stop());

  function keyFile(project: string): string {
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
    const path = join(folder, "key.json");
    const key = {
      ...{ type: "service_account", project_id: project, private_key: privateKey },
      ...{ client_email: "robot@example.com", token_uri: `${login.url}/token` },
    };
    writeFileSync(path, JSON.stringify(key));
    return path;
  }

  test("switches the provider on, names the project, and is asked for one token when calls come", async () => {
    const env = { GOOGLE_APPLICATION_CREDENTIALS: keyFile("project-of-file") };
    gateway = await startGateway({ env, config: { providers: { vertex: { baseUrl: host.url } } } });
    expect(login.requests.length).toBe(0);
    await Promise.all(Array.from({ length: 100 }, () => ask("vertex/gemini-2.5-flash")));
    expect(issued).toBe(1);
    expect(host.requests[0]!.path).toContain("/projects/project-of-file/locations/global/");
    expect(new Set(host.requests.map(({ headers }) => headers.get("authorization")))).toEqual(
      new Set([`Bearer ${TOKEN}-1`]),
    );
  });

  test("is asked for another token once if Vertex refuses the first", async () => {
    host.answer((request) =>
      request.headers.get("authorization") === `Bearer ${TOKEN}-2`
        ? json(ANSWER)
        : json({ error: { code: 401, message: "expired", status: "UNAUTHENTICATED" } }, 401),
    );
    const env = { GOOGLE_APPLICATION_CREDENTIALS: keyFile("p") };
    gateway = await startGateway({ env, config: { providers: { vertex: { baseUrl: host.url } } } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("vertex/gemini-2.5-flash")));
    expect(answers.map(({ choices }) => choices[0]!.message.content)).toEqual(answers.map(() => "hello"));
    expect(issued).toBe(2);
  });

  test("whose key cannot be read leaves the provider off, and weir says what to set", async () => {
    const env = {
      ...{ GOOGLE_APPLICATION_CREDENTIALS: join(folder, "none.json"), GOOGLE_CLOUD_PROJECT: "p" },
      // Without any provider the mock would answer.
      OPENAI_API_KEY: "k-0123456789",
    };
    gateway = await startGateway({ env, config: { providers: { vertex: { baseUrl: host.url } } } });
    const refused = await ask("vertex/gemini-2.5-flash").then(
      () => "",
      (thrown: Error) => thrown.message,
    );
    expect(refused).toContain(
      "set VERTEX_ACCESS_TOKEN, or set GOOGLE_APPLICATION_CREDENTIALS to a readable key file",
    );
  });

  test("is not the metadata server, which is asked only where the config says so", async () => {
    const env = { GCE_METADATA_HOST: new URL(login.url).host, GOOGLE_CLOUD_PROJECT: "p" };
    gateway = await startGateway({ env, config: { providers: { vertex: { baseUrl: host.url } } } });
    await ask("vertex/gemini-2.5-flash").catch(() => {});
    expect(login.requests.length).toBe(0);
    await gateway.stop();
    const variables = { identity: "metadata" };
    gateway = await startGateway({
      env,
      config: { providers: { vertex: { baseUrl: host.url, variables } } },
    });
    await ask("vertex/gemini-2.5-flash");
    expect(login.requests.map(({ path, headers }) => [path, headers.get("metadata-flavor")])).toEqual([
      ["/computeMetadata/v1/instance/service-accounts/default/token", "Google"],
    ]);
  });
});
