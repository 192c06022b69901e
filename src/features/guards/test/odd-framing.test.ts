/** Answers in framings that are unusual and that clients read all the same: their texts are judged, too. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

const MAIL = "anna.meier@example.com";
const JSON_ANSWER = JSON.stringify({
  ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: `Write ${MAIL}.` }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
});
const chunk = (delta: object, finish: string | null = null) => ({
  ...{ id: "c_1", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta, finish_reason: finish }],
});
/** An event whose data stands on several lines, which readers join (WHATWG, server-sent events). */
const onLines = (value: object, end: string) =>
  JSON.stringify(value, null, 1)
    .split("\n")
    .map((line) => `data: ${line}${end}`)
    .join("") + end;

const bodies: Record<string, [type: string, body: string]> = {
  "a byte order mark": ["application/json", `\ufeff${JSON_ANSWER}`],
  ...Object.fromEntries(
    ["\n", "\r\n", "\r"].map((end) => [
      `a mark, and data on several lines that end with ${JSON.stringify(end)}`,
      [
        "text/event-stream",
        "\ufeff" +
          onLines(chunk({ role: "assistant", content: `Write ${MAIL}` }), end) +
          onLines(chunk({ content: " now." }), end) +
          onLines(chunk({}, "stop"), end) +
          `data: [DONE]${end}${end}`,
      ],
    ]),
  ),
  "one line of data and a mark": [
    "text/event-stream",
    `\ufeffdata: ${JSON.stringify(chunk({ role: "assistant", content: `Write ${MAIL} now.` }))}\n\n` +
      `data: ${JSON.stringify(chunk({}, "stop"))}\n\ndata: [DONE]\n\n`,
  ],
  "lines that end in different ways": [
    "text/event-stream",
    `data: ${JSON.stringify(chunk({ role: "assistant", content: "Now" }))}\r\n\r` +
      `data: ${JSON.stringify(chunk({ content: ` write ${MAIL} now.` }))}\n\r\n` +
      `data: ${JSON.stringify(chunk({}, "stop"))}\r\r\ndata: [DONE]\n\n`,
  ],
};
let given = "";
const upstream = startUpstream(() => {
  const [type, body] = bodies[given]!;
  return { status: 200, headers: { "content-type": type }, body };
});
const gateway = await startGateway({
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567", models: ["m"] },
    },
    guards: { pii: { find: ["email"], do: "mask", on: "output" } },
    log: { format: "json" },
  },
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

for (const [name, [type]] of Object.entries(bodies))
  for (const path of ["/v1/chat/completions", "/v1/messages"])
    test(`${name}, at ${path}`, async () => {
      given = name;
      const response = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          ...{ model: "p/m", stream: type !== "application/json", max_tokens: 100 },
          messages: [{ role: "user", content: "hi" }],
        }),
      });
      const text = await response.text();
      expect(text).not.toContain(MAIL);
      // weir may also refuse what a provider must not send.
      if (response.ok) expect(text).toContain("[EMAIL]");
      else expect(response.status).toBe(502);
    });
