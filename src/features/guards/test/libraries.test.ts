/** What programs believe of answers that a guard holds, blocks or judges afterwards, with the libraries of the vendors. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { believes, LIBRARIES } from "../../../../test/helpers/guard-clients.ts";
import {
  type Answer,
  json,
  sse,
  startUpstream,
  type UpstreamRequest,
} from "../../../../test/helpers/upstream.ts";
import { patient } from "./patient.ts";

setDefaultTimeout(60_000);

const open: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const one of open) await one.stop();
});

const WORD = "xyzzy-4711";
const SAID = "Something harmless that goes on for a while.";

/** Says the last prompt, after as many milliseconds as it names. */
function provider({ body }: UpstreamRequest): Answer {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  const prompt = messages.at(-1)!.content;
  const chunk = (delta: JsonObject, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  return sse(
    (function* () {
      yield chunk({ role: "assistant", content: "" });
      for (const piece of prompt.match(/.{1,7}/gs)!) {
        yield chunk({ content: piece });
        yield { wait: 2 };
      }
      yield { wait: Number(/after (\d+) ms/.exec(prompt)?.[1] ?? 0) };
      yield chunk({}, "stop");
      yield "data: [DONE]\n\n";
    })(),
  );
}

async function guarded(guard: JsonObject, timeouts: JsonObject = {}): Promise<RunningGateway> {
  const hook = startUpstream(({ body }) => json({ verdict: body.includes(WORD) ? "block" : "pass" }));
  const upstream = startUpstream(provider);
  const gateway = await startGateway({
    config: {
      guards: patient({ asks: { webhook: hook.url, on: "output", ...guard } }),
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
      timeouts,
      log: { format: "json" },
    },
  });
  open.push(gateway, upstream, hook);
  return gateway;
}

const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : JSON.stringify(error));

describe("after: a blocked answer is not complete for any program", async () => {
  const gateway = await guarded({ mode: "after" });
  for (const library of LIBRARIES)
    test(library, async () => {
      const blocked = await believes(library, gateway.url, "p/m", `${SAID} ${WORD} and more`);
      expect([blocked.isFinished, blocked.error === undefined]).toEqual([false, false]);
      expect(blocked.text.length).toBeGreaterThan(SAID.length);
      const passed = await believes(library, gateway.url, "p/m", SAID);
      expect(passed).toEqual({ text: SAID, isFinished: true });
    });
});

describe("hold: programs wait for a held answer, and get none that is blocked", async () => {
  const gateway = await guarded({ mode: "hold" }, { holdMs: 500, heartbeatMs: 300 });
  for (const library of LIBRARIES)
    test(library, async () => {
      const slow = `${SAID} after 4000 ms`;
      const passed = await believes(library, gateway.url, "p/m", slow);
      expect(passed).toEqual({ text: slow, isFinished: true });
      const blocked = await believes(library, gateway.url, "p/m", `${SAID} ${WORD}`);
      expect([blocked.text, blocked.isFinished]).toEqual(["", false]);
      expect(sentenceOf(blocked.error)).toContain("The guard");
    });
});

describe("hold: after holdMs the status is sent, and a block is an error within the answer", async () => {
  const gateway = await guarded({ mode: "hold" }, { holdMs: 500, heartbeatMs: 300 });
  for (const library of LIBRARIES)
    test(library, async () => {
      const blocked = await believes(library, gateway.url, "p/m", `${SAID} ${WORD} after 2000 ms`);
      expect([blocked.text, blocked.isFinished, blocked.error === undefined]).toEqual(["", false, false]);
    });

  test("the head and keep-alives are sent before the verdict", async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "p/m", stream: true },
        messages: [{ role: "user", content: `${SAID} ${WORD} after 2000 ms` }],
      }),
    });
    expect(response.status).toBe(200);
    let text = "";
    try {
      for await (const piece of response.body!) text += Buffer.from(piece as Uint8Array).toString();
    } catch {
      // The connection is closed behind the error.
    }
    expect(text.split(/^:.*$/m).length).toBeGreaterThan(4);
    expect(text).toContain("blocked_by_guard");
    expect(text).not.toMatch(/harmless|\[DONE\]/);
  });
});

describe("as a refusal a blocked answer ends, and not as a complete one", async () => {
  const gateways = {
    hold: await guarded({ mode: "hold", as: "refusal" }),
    after: await guarded({ mode: "after", as: "refusal" }),
  };
  for (const [mode, gateway] of Object.entries(gateways))
    for (const library of LIBRARIES)
      test(`${mode}: ${library}`, async () => {
        const refused = await believes(library, gateway.url, "p/m", `${SAID} ${WORD}`);
        expect([refused.isFinished, refused.text.includes(WORD) && mode === "hold"]).toEqual([false, false]);
      });
});
