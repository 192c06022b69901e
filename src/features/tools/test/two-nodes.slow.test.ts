/** Two gateways on one PostgreSQL: a client whose next request reaches the other one goes on where it can, and learns where it cannot. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres, type TestPostgres } from "../../../../test/helpers/postgres.ts";
import { type Serving, serve } from "../../../../test/helpers/serving.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { ModernClient, type Received, textOf } from "./support/clients.ts";
import { definition, type FakeServer, fakeServer, text } from "./support/servers.ts";

setDefaultTimeout(120_000);

const ALICE = "sk-alice-of-the-tools-0123456789";
const BOB = "sk-bob-of-the-tools-0123456789ab";
const WISH = {
  method: "elicitation/create",
  params: { message: "Your name?", requestedSchema: { type: "object" } },
};
const nameIn = (answer: unknown) => (answer as { content?: { name: string } } | undefined)?.content?.name;

let server: TestPostgres;
let modern: FakeServer;
let legacy: FakeServer;
let many: FakeServer;
let nodes: Serving[] = [];

const start = async (): Promise<void> => {
  modern = fakeServer("modern", {
    greet({ params }) {
      const { inputResponses } = params;
      if (!isObject(inputResponses))
        return { resultType: "input_required", inputRequests: { who: WISH }, requestState: "s" };
      return text(`Hello, ${nameIn(inputResponses["who"])}, ${String(params["requestState"])}`);
    },
  });
  legacy = fakeServer("legacy", {
    async greet({ ask }) {
      return text(`Hello, ${nameIn((await ask(WISH.method, WISH.params))["result"])}`);
    },
  });
  many = fakeServer("modern", {});
  many.tools = Array.from({ length: 1_200 }, (_, at) => definition(`tool-${at}`));
  server = await startPostgres();
  const url = await server.createDatabase();
  const at = ({ url: of }: FakeServer) => ({ url: of, allow: ["*"] });
  const config = JSON.stringify({
    ...{ log: { format: "json" }, state: "state", store: { url } },
    keys: [
      { name: "alice", key: ALICE },
      { name: "bob", key: BOB },
    ],
    tools: { servers: { modern: at(modern), legacy: at(legacy), many: at(many) } },
  });
  for (let index = 0; index < 2; index++) nodes.push(await serve({ workers: 2, config }));
};

const client = (node: number, name: string, key = ALICE) =>
  new ModernClient({
    ...{ url: `${nodes[node]!.url}/mcp/${name}`, key },
    capabilities: { elicitation: { form: {} } },
  });

async function ask(node: number, name: string): Promise<JsonObject> {
  const { message } = await client(node, name).request("tools/call", { name: "greet", arguments: {} });
  const { result } = message as { result: JsonObject };
  expect(result["resultType"]).toBe("input_required");
  return result;
}

/** Answers all questions of a result at a node. */
function answer(node: number, name: string, asked: JsonObject, key = ALICE): Promise<Received> {
  const answers = { action: "accept", content: { name: "Anna" } };
  const { requestState } = asked;
  const inputResponses = Object.fromEntries(
    Object.keys(asked["inputRequests"] as JsonObject).map((one) => [one, answers]),
  );
  const more = { inputResponses, ...(requestState !== undefined && { requestState }) };
  return client(node, name, key).request("tools/call", { name: "greet", arguments: {}, ...more });
}

const errorOf = ({ message }: Received) =>
  message["error"] as { code: number; message: string; data?: JsonObject };

describe.skipIf(missingPostgres !== undefined)(`PostgreSQL (${missingPostgres ?? "present"})`, () => {
  beforeAll(start);

  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.end()));
    for (const one of [modern, legacy, many]) one?.stop();
    await server?.close();
  });

  test("an answer for a modern server is good at either gateway", async () => {
    for (const [first, second] of [
      [0, 1],
      [1, 0],
    ] as const)
      expect(textOf(await answer(second, "modern", await ask(first, "modern")))).toBe("Hello, Anna, s");
  });

  test("a call that waits at one gateway is not continued at the other one, which says where it waits", async () => {
    const asked = await ask(0, "legacy");
    const { code, message, data } = errorOf(await answer(1, "legacy", asked));
    expect(code).toBe(-32603);
    expect(message).toBe(
      `the waiting call is at the gateway on ${data!["node"]}, or has ended with it: send the answers there, or call the tool again`,
    );
    expect(String(data!["node"])).not.toBe("");
    expect(textOf(await answer(0, "legacy", asked))).toBe("Hello, Anna");
    expect(errorOf(await answer(0, "legacy", asked)).message).toContain("the waiting call ended");
    expect(legacy.seen.filter((one) => one === "tools/call greet").length).toBe(1);
  });

  test("the cursor of a list is good at either gateway, for its caller alone", async () => {
    const page = async (node: number, cursor?: unknown, key = ALICE) => {
      const params = cursor === undefined ? {} : { cursor: cursor as string };
      return client(node, "many", key).request("tools/list", params);
    };
    const names: string[] = [];
    let cursor: unknown;
    for (let node = 0; node === 0 || cursor !== undefined; node++) {
      if (cursor !== undefined) expect(errorOf(await page(node % 2, cursor, BOB)).code).toBe(-32602);
      const { result } = (await page(node % 2, cursor)).message as { result: JsonObject };
      names.push(...(result["tools"] as { name: string }[]).map(({ name }) => name));
      cursor = result["nextCursor"];
    }
    expect(names).toEqual(many.tools.map(({ name }) => name as string));
  });

  test("a state of another caller or one that is forged is refused at both gateways", async () => {
    for (const name of ["modern", "legacy"]) {
      const asked = await ask(0, name);
      for (const node of [0, 1]) {
        expect(errorOf(await answer(node, name, asked, BOB)).code).toBe(-32602);
        const state = String(asked["requestState"]);
        for (const at of [0, 20, state.length - 2]) {
          const forged = state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
          expect(errorOf(await answer(node, name, { ...asked, requestState: forged })).code).toBe(-32602);
        }
      }
    }
  });
});
