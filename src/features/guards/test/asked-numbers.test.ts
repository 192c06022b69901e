/** Numbers in arguments of tools of which a service replaces all or a part: arguments stay JSON. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import type { RunningGateway } from "../../../../test/helpers/gateway.ts";
import { eventsIn, joined } from "../../../../test/helpers/guarded.ts";
import { streamedText } from "../../../../test/helpers/streamed.ts";
import { json, sse } from "../../../../test/helpers/upstream.ts";
import { chatProvider, post, Servers } from "./servers.ts";

setDefaultTimeout(60_000);

const servers = new Servers();

const CARD = "4111111111111111";
const ARGS = `{"card": ${CARD}, "list": [${CARD},-1.5e3], "said": "no: ${CARD}, \\"x\\"", "ok": true}`;

/** A service that finds digits, and lets nothing go on of digits that may become more. */
const service = (digits: RegExp, more: JsonObject) =>
  servers.service(({ texts }) => ({
    verdict: "pass",
    hold: texts.map(({ text }) => text.replace(/\d+$/, "").length),
    findings: texts.flatMap(({ index, text }) =>
      [...text.matchAll(digits)].map((match) => ({
        ...{ index, start: match.index, end: match.index + match[0].length, type: "CARD", ...more },
      })),
    ),
  })).url;

const CALL = { id: "t", type: "function", function: { name: "f", arguments: ARGS } };
const chunk = (delta: JsonObject, finish: string | null = null) =>
  `data: ${JSON.stringify({
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

/** The provider of both formats: it calls a tool. @param size characters of a piece of the arguments */
const provider = (size: number) =>
  servers.upstream(({ path, body }) => {
    const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
    if (path.endsWith("/messages"))
      return json({
        ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null },
        content: [{ type: "tool_use", id: "t", name: "f", input: JSON.parse(ARGS) as JsonObject }],
        ...{ stop_reason: "tool_use", usage: { input_tokens: 1, output_tokens: 1 } },
      });
    if (stream !== true)
      return json({
        ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
        choices: [
          {
            ...{ index: 0, finish_reason: "tool_calls" },
            message: { role: "assistant", content: null, tool_calls: [CALL] },
          },
        ],
      });
    const pieces = ARGS.match(new RegExp(`[^]{1,${size}}`, "g"))!;
    return sse([
      chunk({ tool_calls: [{ index: 0, ...CALL, function: { name: "f", arguments: "" } }] }),
      ...pieces.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      chunk({}, "tool_calls"),
      "data: [DONE]\n\n",
    ]);
  });

async function gatewayWith(guard: JsonObject, size = 3) {
  const upstream = provider(size);
  const gateway = await servers.gateway(
    { asks: { do: "mask", ...guard } },
    {
      providers: {
        chat: chatProvider(upstream),
        messages: { speaks: "messages", baseUrl: upstream.url, models: ["m"] },
      },
    },
  );
  return { gateway, upstream };
}

const send = ({ url }: RunningGateway, path: string, body: JsonObject) =>
  post(url + path, { messages: [{ role: "user", content: "x" }], ...body });

/** @returns the arguments that the client reads, and the verdicts */
async function called(gateway: RunningGateway, stream: boolean): Promise<string> {
  const response = await send(gateway, "/v1/chat/completions", { model: "chat/m", stream });
  if (!stream)
    return joined(
      [(await response.json()) as JsonObject],
      "choices.*.message.tool_calls.*.function.arguments",
    );
  return joined(eventsIn(await streamedText(response)), "choices.*.delta.tool_calls.*.function.arguments");
}

/** What services make of a number, and what becomes of the arguments. */
const CASES: Readonly<Record<string, { digits: RegExp; more: JsonObject; number: string; said?: string }>> = {
  "all of it": { digits: /\d{16}/g, more: {}, number: '"[CARD]"', said: "[CARD]" },
  "its beginning": {
    ...{ digits: /\d{12}(?=\d{4}(?!\d))/g, more: { replacement: "****" } },
    ...{ number: '"****1111"', said: "****1111" },
  },
  "its end, with quotes": {
    ...{ digits: /(?<=\d{4})\d{12}(?!\d)/g, more: { replacement: '"x"' } },
    ...{ number: '"4111\\"x\\""', said: '4111\\"x\\"' },
  },
  "two parts of it": {
    ...{ digits: /(?<!\d)\d{4}(?=\d{12})|(?<=\d{12})\d{4}(?!\d)/g, more: { replacement: "#" } },
    ...{ number: '"#11111111#"', said: "#11111111#" },
  },
  "another number": { digits: /\d{16}/g, more: { replacement: "0" }, number: "0", said: "0" },
};

describe("a service replaces a number, and arguments that a model writes stay JSON", () => {
  for (const [name, { digits, more, number, said = "" }] of Object.entries(CASES)) {
    const expected = `{"card": ${number}, "list": [${number},-1.5e3], "said": "no: ${said}, \\"x\\"", "ok": true}`;

    test(`${name}: whole`, async () => {
      const { gateway } = await gatewayWith({ webhook: service(digits, more), on: ["output"] });
      expect(await called(gateway, false)).toBe(expected);
      expect(() => JSON.parse(expected)).not.toThrow();
    });

    for (const size of [1, 3, 200])
      test(`${name}: streamed in pieces of ${size}`, async () => {
        const url = service(digits, more);
        const holding = await gatewayWith({ webhook: url, on: ["output"] }, size);
        expect(await called(holding.gateway, true)).toBe(expected);
        const window = await gatewayWith(
          { webhook: { url, holds: true }, on: "output", mode: "window", overlap: 40 },
          size,
        );
        expect(await called(window.gateway, true)).toBe(expected);
      });
  }
});

test("a service that lets go on a part of a number gets the number in one piece", async () => {
  const hook = servers.service(({ texts }) => ({
    verdict: "pass",
    hold: texts.map(({ text }) => text.length),
    findings: texts.flatMap(({ index, text }) =>
      [...text.matchAll(/\d{16}/g)].map(({ index: start }) => ({
        index,
        start,
        end: start + 16,
        type: "CARD",
      })),
    ),
  }));
  const webhook = { url: hook.url, holds: true };
  const { gateway } = await gatewayWith({ webhook, on: "output", mode: "window", overlap: 0 });
  const args = JSON.parse(await called(gateway, true)) as JsonObject;
  expect([args["card"], args["list"], args["ok"]]).toEqual(["[CARD]", ["[CARD]", -1500], true]);
});

test("a number that comes as a value becomes a string", async () => {
  const { gateway } = await gatewayWith({ webhook: service(/\d{16}/g, {}), on: ["output"] });
  const response = await send(gateway, "/v1/messages", { model: "messages/m", max_tokens: 9 });
  const [input] = ((await response.json()) as { content: { input: JsonObject }[] }).content;
  expect(input!.input).toEqual({
    ...{ card: "[CARD]", list: ["[CARD]", -1500], said: 'no: [CARD], "x"', ok: true },
  });
});

test("a number that a service finds in a text of the request goes as a string in arguments too", async () => {
  const { gateway, upstream } = await gatewayWith({ webhook: service(/\d{16}/g, {}), on: ["input"] });
  const messages = [
    { role: "user", content: `my card is ${CARD}` },
    { role: "assistant", content: null, tool_calls: [CALL] },
    { role: "tool", tool_call_id: "t", content: "done" },
  ];
  await (await send(gateway, "/v1/chat/completions", { model: "chat/m", messages })).text();
  const sent = JSON.parse(upstream.requests[0]!.body.toString()) as { messages: JsonObject[] };
  expect(joined([sent as JsonObject], "messages.*.tool_calls.*.function.arguments")).toBe(
    `{"card": "[CARD]", "list": ["[CARD]",-1.5e3], "said": "no: [CARD], \\"x\\"", "ok": true}`,
  );
});
