/** Items of the provider that another gateway key has received: all keys share the account of the provider. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type OpenAI from "openai";
import { APIError } from "openai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { serve, type Serving } from "../helpers/serving.ts";
import { startStoringVendor, type StoringVendor } from "../helpers/storing-vendor.ts";

setDefaultTimeout(60_000);

type Input = OpenAI.Responses.ResponseInput;

const KEYS = { a: "key-of-client-a-1234567890", b: "key-of-client-b-1234567890" };
const OBSERVER = `
import { definePlugin } from "weir";
export default definePlugin({ name: "translating", hooks: { request() {} } });`;

let vendor: StoringVendor;
let gateway: RunningGateway;
let a: OpenAI;
let b: OpenAI;

const configOf = (names: readonly (keyof typeof KEYS)[], more: object = {}) => ({
  providers: {
    openai: {
      ...{ baseUrl: `${vendor.url}/v1`, apiKey: "key-of-the-vendor-12345" },
      // A vendor's trait does not hold at another address.
      traits: { storesAnswers: true },
    },
  },
  ...(names.length > 0 && { keys: names.map((name) => ({ name, key: KEYS[name] })) }),
  responses: { commitMs: 10_000 },
  ...more,
});
const NONE = { WEIR_STATE: "none" };

beforeAll(async () => {
  vendor = startStoringVendor();
  gateway = await startGateway({ config: configOf(["a", "b"]), env: NONE });
  a = openaiClient(gateway.url, { apiKey: KEYS.a });
  b = openaiClient(gateway.url, { apiKey: KEYS.b });
});

afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** The ids of the items of a new answer: reasoning, message, image. */
async function answered(client: OpenAI, stream = false, more: object = {}): Promise<string[]> {
  const body = { model: "openai/m", input: "hi", ...more };
  if (!stream) return (await client.responses.create(body)).output.map(({ id }) => id!);
  const ids = new Set<string>();
  for await (const event of await client.responses.create({ ...body, stream: true }))
    if (event.type === "response.output_item.done") ids.add(event.item.id!);
  return [...ids];
}

/** The ways to name the items of an answer without their content. */
const waysOf = ([reasoning, message, image]: string[]): Record<string, Input> => ({
  reference: [{ type: "item_reference", id: message! }],
  "a reference without type": [{ id: message! } as Input[number]],
  "a reference with null": [{ type: null, id: reasoning! } as unknown as Input[number]],
  reasoning: [{ type: "reasoning", id: reasoning!, summary: [] }],
  "reasoning with a summary": [
    { type: "reasoning", id: reasoning!, summary: [{ type: "summary_text", text: "x" }] },
  ],
  image: [{ type: "image_generation_call", id: image! } as Input[number]],
  behind: [
    { role: "user", content: "and" },
    { type: "item_reference", id: message! },
    { role: "user", content: "then" },
  ],
});

const askedWith = (client: OpenAI, input: Input, more: object = {}) =>
  client.responses.create({ model: "openai/m", input, ...more }).then(
    (answer) => (answer as OpenAI.Responses.Response).output_text,
    (error: unknown) => error as APIError,
  );

describe("a gateway with several keys", () => {
  test("lets a key use the items of its answers, and no other key", async () => {
    for (const stream of [false, true]) {
      const ways = waysOf(await answered(a, stream));
      for (const [way, input] of Object.entries(ways)) {
        const before = vendor.bodies.length;
        const refused = await askedWith(b, input);
        expect([way, stream, refused instanceof APIError && refused.status]).toEqual([way, stream, 404]);
        expect([(refused as APIError).code, (refused as APIError).param]).toEqual([
          "item_not_found",
          "input",
        ]);
        expect((refused as APIError).message).toMatch(/Item with id '\w+' not found\./);
        const streamed = await b.responses
          .create({ model: "openai/m", input, stream: true })
          .catch((error: unknown) => error);
        expect((streamed as APIError).status).toBe(404);
        expect(vendor.bodies.length).toBe(before);
        expect([way, await askedWith(a, input)]).toEqual([way, expect.stringContaining("secret of answer")]);
        // The bytes of the client pass.
        expect(vendor.bodies.at(-1)!.input).toEqual(input as unknown as string);
      }
    }
  });

  test("is not misled by escapes", async () => {
    const [, message] = await answered(a);
    const id = `"\\u0069d":"${message!.replace("m", "\\u006d")}"`;
    const body = `{"model":"openai/m","input":[{${id},"typ\\u0065":"item\\u005freference"}]}`;
    const ask = (key: string) =>
      fetch(`${gateway.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body,
      });
    expect([(await ask(KEYS.b)).status, (await ask(KEYS.a)).status]).toEqual([404, 200]);
  });

  test("answers the same for an unknown item as for another key's", async () => {
    const [, message] = await answered(a);
    const [foreign, unknown] = await Promise.all(
      [message!, "msg_nobody"].map((id) => askedWith(b, [{ type: "item_reference", id }])),
    );
    expect((foreign as APIError).message.replace(message!, "ID")).toBe(
      (unknown as APIError).message.replace("msg_nobody", "ID"),
    );
  });

  test("passes items with their content, whoever made them, as Codex sends them with store: false", async () => {
    const input = [
      { type: "reasoning", id: "rs_elsewhere", summary: [], encrypted_content: "gAAA" },
      { type: "message", id: "msg_elsewhere", role: "assistant", content: [] },
      { type: "function_call", id: "fc_elsewhere", call_id: "call_1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "ok" },
    ] as unknown as Input;
    expect(await askedWith(b, input, { store: false })).toBe("read: ");
    expect(vendor.bodies.at(-1)!.input).toEqual(input as unknown as string);
  });

  test("remembers no items of an answer that is not stored", async () => {
    const [, message] = await answered(a, false, { store: false });
    const refused = await askedWith(a, [{ type: "item_reference", id: message! }]);
    expect((refused as APIError).status).toBe(404);
  });

  test("lets a key use what it retrieved later: an answer in the background, and input items", async () => {
    const { id } = await a.responses.create({ model: "openai/m", input: "hi", background: true });
    const { output } = await a.responses.retrieve(id);
    const listed = await a.responses.inputItems.list(id);
    for (const item of [output[1]!, listed.data[0]!]) {
      const input: Input = [{ type: "item_reference", id: item.id! }];
      expect(await askedWith(a, input)).toMatch(/secret of|input of/);
      expect(((await askedWith(b, input)) as APIError).status).toBe(404);
    }
    // What it retrieved first is still known.
    expect(await askedWith(a, [{ type: "item_reference", id: output[0]!.id! }])).toContain("secret");
  });
});

test("hooks that make weir write the request itself change nothing", async () => {
  const translating = await startGateway({
    config: configOf(["a", "b"]),
    env: NONE,
    plugins: { "translating.ts": OBSERVER },
  });
  const [one, two] = [KEYS.a, KEYS.b].map((apiKey) => openaiClient(translating.url, { apiKey })) as [
    OpenAI,
    OpenAI,
  ];
  const before = vendor.bodies.length;
  const ways = waysOf(await answered(a));
  const asked = await Promise.all(Object.values(ways).map((input) => askedWith(two, input)));
  expect(asked.filter((answer) => String(answer).includes("secret"))).toEqual([]);
  const sent = JSON.stringify(vendor.bodies.slice(before + 1));
  for (const id of ["item_reference", "rs_", "ig_"]) expect(sent).not.toContain(`${id}`);
  expect(await askedWith(one, [{ role: "user", content: "hi" }])).toBe("read: ");
  await translating.stop();
});

test("with one key, or none, items that weir has not seen pass", async () => {
  const [, message] = await answered(a);
  const input: Input = [{ type: "item_reference", id: message! }];
  for (const names of [[], ["a"]] as const) {
    const alone = await startGateway({ config: configOf(names), env: NONE });
    const client = openaiClient(alone.url, { apiKey: KEYS.a });
    expect(await askedWith(client, input)).toContain("secret");
    await alone.stop();
  }
});

test("`responses.foreignIds` passes or refuses them whatever the keys", async () => {
  const [, message] = await answered(a);
  const input: Input = [{ type: "item_reference", id: message! }];
  const asked = async (names: readonly (keyof typeof KEYS)[], foreignIds: string) => {
    const started = await startGateway({
      config: configOf(names, { responses: { foreignIds, commitMs: 10_000 } }),
      env: NONE,
    });
    const client = openaiClient(started.url, { apiKey: KEYS.b });
    const answer = await askedWith(client, input);
    const own = (await answered(client))[1]!;
    expect(await askedWith(client, [{ type: "item_reference", id: own }])).toContain("secret");
    await started.stop();
    return answer instanceof APIError ? answer.status : "answered";
  };
  expect(await asked(["a", "b"], "pass")).toBe("answered");
  expect(await asked([], "refuse")).toBe(404);
});

test("keys of the store are told apart by two workers, and after a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-items-"));
  const start = (workers: number) =>
    serve({ config: JSON.stringify(configOf([])), workers, binary: false, env: { WEIR_STATE: folder } });
  const stop = async (weir: Serving) => {
    weir.signal("SIGTERM");
    await weir.exited;
    await weir.end();
  };
  const first = await start(2);
  const keys = ["one", "two"].map(
    (name) => /weir_sk_[\w-]+/.exec(first.run("keys", "create", name).output)![0],
  );
  const clientsOf = (url: string) =>
    // New connections reach both workers.
    keys.map((apiKey) => openaiClient(url, { apiKey, headers: { connection: "close" } })) as [OpenAI, OpenAI];
  const ids: string[] = [];
  const check = async (url: string) => {
    const [own, other] = clientsOf(url);
    for (let round = 0; round < 4; round++) ids.push((await answered(own, round % 2 === 0))[1]!);
    for (const id of ids) {
      const input: Input = [{ type: "item_reference", id }];
      expect(await askedWith(own, input)).toContain("secret");
      expect(((await askedWith(other, input)) as APIError).status).toBe(404);
    }
  };
  await check(first.url);
  const [own, other] = clientsOf(first.url);
  const { id } = await own.responses.create({ model: "openai/m", input: "hi" });
  const said: Input = [{ role: "user", content: "x" }];
  const continued = await askedWith(other, said, { previous_response_id: id });
  expect((continued as APIError).code).toBe("previous_response_not_found");
  const conversed = await askedWith(other, said, { conversation: "conv_1" });
  expect((conversed as APIError).code).toBe("conversation_not_found");
  expect(await askedWith(own, said, { previous_response_id: id })).toBe("read: ");
  await stop(first);
  const second = await start(1);
  await check(second.url);
  await stop(second);
  await rm(folder, { recursive: true, force: true });
});
