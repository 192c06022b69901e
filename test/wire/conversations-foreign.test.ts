/** Conversations that a provider keeps: their ids pass where keys may use ids that weir does not know. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const ID = "conv_68a1b2c3d4";
const KEY = "key-of-client-a-1234567890";

let upstream: Upstream;
const running: RunningGateway[] = [];

/** A gateway with one host that keeps conversations, or with several. */
async function start(config: object, hosts = 1): Promise<RunningGateway> {
  const providers = Object.fromEntries(
    Array.from({ length: hosts }, (_, index) => [
      `vendor${index || ""}`,
      {
        ...{ baseUrl: `${upstream.url}/v1`, apiKey: "key-of-the-vendor-123456", models: ["m"] },
        ...{ speaks: "responses", traits: { storesAnswers: true } },
      },
    ]),
  );
  const gateway = await startGateway({ config: { providers, ...config }, env: { WEIR_STATE: "none" } });
  running.push(gateway);
  return gateway;
}

beforeAll(() => {
  upstream = startUpstream((request) => {
    if (request.path.includes("conv_gone"))
      return json({ error: { message: "gone", code: "not_found", type: "x", param: null } }, 404);
    return json({ id: ID, object: "conversation", metadata: { of: "vendor" }, created_at: 1, data: [] });
  });
});

afterAll(async () => {
  for (const gateway of running) await gateway.stop();
  upstream.stop();
});

const last = () => {
  const { method, path, body, headers } = upstream.requests.at(-1)!;
  return [method, path, String(body), headers.get("authorization")];
};

const AUTH = "Bearer key-of-the-vendor-123456";

const statusOf = (pending: Promise<unknown>) =>
  pending.then(
    () => 200,
    (error: unknown) => (error instanceof APIError ? error.status : error),
  );

const onItem = ({ conversations }: OpenAI, id: string, item: string): Promise<unknown>[] => [
  conversations.items.retrieve(item, { conversation_id: id }),
  conversations.items.delete(item, { conversation_id: id }),
];

const everyOperation = (client: OpenAI, id: string): Promise<unknown>[] => [
  ...onConversation(client, id),
  ...onItem(client, id, "msg_1"),
];

const onConversation = ({ conversations }: OpenAI, id: string): Promise<unknown>[] => [
  conversations.retrieve(id),
  conversations.update(id, { metadata: { a: "b" } }),
  conversations.delete(id),
  conversations.items.list(id).then(({ data }) => data),
  conversations.items.create(id, { items: [{ role: "user", content: "x" }] }),
];

describe("an id of a vendor", () => {
  test("reaches the only provider that can have it", async () => {
    const client = openaiClient((await start({})).url);
    const { conversations } = client;
    expect(await conversations.retrieve(ID)).toMatchObject({ metadata: { of: "vendor" } });
    expect(last()).toEqual(["GET", `/v1/conversations/${ID}`, "", AUTH]);
    await conversations.update(ID, { metadata: { a: "b" } });
    expect(last()).toEqual(["POST", `/v1/conversations/${ID}`, '{"metadata":{"a":"b"}}', AUTH]);
    await conversations.items.create(ID, { items: [{ role: "user", content: "x" }], include: [] });
    const sent = '{"items":[{"role":"user","content":"x"}]}';
    expect(last()).toEqual(["POST", `/v1/conversations/${ID}/items`, sent, AUTH]);
    await conversations.items.list(ID, { limit: 3, after: "msg_1" });
    expect(last().slice(0, 2)).toEqual(["GET", `/v1/conversations/${ID}/items?limit=3&after=msg_1`]);
    await conversations.items.retrieve("msg_1", { conversation_id: ID });
    expect(last().slice(0, 2)).toEqual(["GET", `/v1/conversations/${ID}/items/msg_1`]);
    await conversations.items.delete("msg_1", { conversation_id: ID });
    expect(last().slice(0, 2)).toEqual(["DELETE", `/v1/conversations/${ID}/items/msg_1`]);
    await conversations.delete(ID);
    expect(last().slice(0, 2)).toEqual(["DELETE", `/v1/conversations/${ID}`]);
    // The provider's refusal is the client's.
    const refused: unknown = await conversations.retrieve("conv_gone").catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 404, code: "not_found" });
  });

  test("passes with a key where the config says so, and else not", async () => {
    const keys = [{ name: "a", key: KEY }];
    const passing = await start({ keys, responses: { foreignIds: "pass" } });
    const allowed = everyOperation(openaiClient(passing.url, { apiKey: KEY }), ID);
    expect(await Promise.all(allowed.map(statusOf))).toEqual(allowed.map(() => 200));
    for (const config of [{ keys }, { responses: { foreignIds: "refuse" } }]) {
      const gateway = await start(config);
      const before = upstream.requests.length;
      const refused = everyOperation(openaiClient(gateway.url, { apiKey: KEY }), ID);
      expect(await Promise.all(refused.map(statusOf))).toEqual(refused.map(() => 404));
      expect(upstream.requests.length).toBe(before);
    }
  });

  test("is unknown where several providers could have it, and where it is none", async () => {
    const several = openaiClient((await start({}, 2)).url);
    const one = openaiClient((await start({})).url);
    const before = upstream.requests.length;
    const own = `conv_w1${"a".repeat(40)}`;
    const asked = [
      ...everyOperation(several, ID),
      ...everyOperation(one, own),
      ...everyOperation(one, "conv_1?x=2"),
      ...everyOperation(one, "a/../../models"),
      ...onItem(one, ID, "msg/../../x"),
    ];
    expect(await Promise.all(asked.map(statusOf))).toEqual(asked.map(() => 404));
    expect(upstream.requests.length).toBe(before);
  });
});
