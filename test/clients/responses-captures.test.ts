/**
 * Captured requests of clients of `/v1/responses`, at an upstream of each other format: everything they say arrives, and
 * the answer is a stream or a body that the client accepts.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { haveCaptures, NO_CAPTURES } from "../helpers/captures.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { judgeResponseObject, judgeWritten } from "../helpers/judge-responses.ts";
import { startUpstream, type Upstream } from "../helpers/upstream.ts";
import { jobLanguage } from "./job/provider.ts";
import { post, replays, type Replay } from "./replay.ts";
import { missing, type Said, saidInChat, saidInMessages, saidInResponses } from "./said.ts";

if (!haveCaptures) console.log(NO_CAPTURES);

const REPLAYS = replays("/v1/responses", /./);

/** What weir refuses: the member that its error names. */
function refusedFor({ body }: Replay): string | undefined {
  const tools = (body.tools ?? []) as JsonObject[];
  if (body.previous_response_id !== undefined) return "previous_response_id";
  if (body.background === true) return "background";
  return tools.length > 0 && tools.every(({ type }) => type === "web_search") ? "tools" : undefined;
}

interface Lane {
  format: string;
  model: string;
  said(body: JsonObject): Said;
}

const LANES: readonly Lane[] = [
  { format: "chat-completions", model: "host/m", said: saidInChat },
  { format: "messages", model: "anthropic/claude-opus-4-6", said: saidInMessages },
];

/** Members that only responses has. */
const RESPONSES_ONLY =
  /"(input_text|output_text|input_image|function_call_output|encrypted_content|client_metadata|previous_response_id)"/;

for (const lane of LANES)
  describe.skipIf(!haveCaptures)(`clients of /v1/responses at an upstream of ${lane.format}`, () => {
    let upstream: Upstream;
    let gateway: RunningGateway;

    beforeAll(async () => {
      const language = jobLanguage(lane.format);
      upstream = startUpstream(({ body }) => {
        const asked = JSON.parse(body.toString("utf8")) as JsonObject;
        return language.write(
          { number: 0, reasoning: "Hm.", text: "Hello.", calls: [] },
          asked.stream === true,
        );
      });
      const names = new Set(REPLAYS.map(({ body }) => String(body.model)));
      gateway = await startGateway({
        config: {
          providers: {
            ...(upstreamConfig({ anthropic: upstream.url }).providers as object),
            host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] },
          },
          aliases: Object.fromEntries([...names].map((name) => [name, lane.model])),
        },
      });
    });

    afterAll(async () => {
      await gateway.stop();
      upstream.stop();
    });

    for (const replay of REPLAYS) {
      const refused = refusedFor(replay);
      if (refused !== undefined) {
        test(`${replay.name} is refused, naming ${refused}`, async () => {
          const before = upstream.requests.length;
          const response = await post(gateway.url, replay);
          expect(response.status).toBe(400);
          const { error } = (await response.json()) as { error: { param: string } };
          expect(error.param).toStartWith(refused);
          expect(upstream.requests.length).toBe(before);
        });
        continue;
      }

      test(`${replay.name}: all it says arrives, and the answer is right`, async () => {
        const response = await post(gateway.url, replay);
        const bytes = await response.bytes();
        const text = Buffer.from(bytes).toString("utf8");
        expect(response.status, text).toBe(200);
        const sent = JSON.parse(upstream.requests.at(-1)!.body.toString("utf8")) as JsonObject;
        expectArrived(saidInResponses(replay.body), lane.said(sent));
        expect(JSON.stringify(sent)).not.toMatch(RESPONSES_ONLY);
        if (replay.body.stream === true) return expect(await judgeWritten(bytes)).toEqual([]);
        const answer: unknown = JSON.parse(text);
        expect(isObject(answer) && judgeResponseObject(answer)).toEqual([]);
      });
    }
  });

function expectArrived(sent: Said, arrived: Said): void {
  expect(missing(sent.system, arrived.system)).toEqual([]);
  expect(missing(sent.user, arrived.user)).toEqual([]);
  expect(missing(sent.assistant, arrived.assistant)).toEqual([]);
  expect(arrived.calls).toEqual(sent.calls);
  expect(arrived.results.map(({ id }) => id)).toEqual(sent.results.map(({ id }) => id));
  sent.results.forEach(({ text }, index) => expect(missing(text, arrived.results[index]!.text)).toEqual([]));
  expect(arrived.images).toEqual(sent.images);
  const names = arrived.tools.map(({ name }) => name);
  for (const tool of sent.tools) {
    expect(names).toContain(tool.name);
    expect(arrived.tools.find(({ name }) => name === tool.name)!.schema).toMatchObject({ type: "object" });
  }
}
