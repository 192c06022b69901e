/** The synchronous path of the translated lane: bytes of the provider in, bytes for the client out. */
import { describe, expect, test } from "bun:test";
import { Attempt, Call } from "../../../src/core/call.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { AnswerWriter } from "../../../src/core/format.ts";
import type { Target } from "../../../src/core/provider.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { Backlog } from "../../../src/gateway/delivery/backlog.ts";
import { Clock } from "../../../src/gateway/delivery/clock.ts";
import { answerStream } from "../../../src/gateway/delivery/stream.ts";
import { streamBody } from "../../../src/gateway/delivery/stream-body.ts";
import { iterate, PluginEvents } from "../../../src/gateway/lanes/event-source.ts";
import { Meter } from "../../../src/gateway/lanes/meter.ts";
import { ProviderEvents } from "../../../src/gateway/lanes/provider-events.ts";
import { TranslatedSource } from "../../../src/gateway/lanes/translated-source.ts";
import { nextPiece } from "../../../src/gateway/lanes/transport.ts";
import type { Gateway, Timeouts } from "../../../src/gateway/types.ts";

const NO_TIMEOUTS = { heartbeatMs: 60_000, holdMs: 60_000, readMs: 60_000, gapMs: 60_000 } as Timeouts;

/** A body in these chunks. After the last one it ends, or breaks with `broken`, or stays open. */
class FakeBody {
  reads = 0;
  cancelled = false;
  readonly #chunks: (string | Uint8Array)[];
  readonly #ending: "end" | "open" | Error;

  constructor(chunks: readonly (string | Uint8Array)[], ending: "end" | "open" | Error = "end") {
    this.#chunks = [...chunks];
    this.#ending = ending;
  }

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.reads++;
      return { done: false, value: typeof chunk === "string" ? Buffer.from(chunk) : chunk };
    }
    if (this.#ending instanceof Error) throw this.#ending;
    if (this.#ending === "open") await new Promise(() => {});
    return { done: true };
  }

  async cancel(): Promise<void> {
    this.cancelled = true;
  }
}

const target = {
  provider: { name: "p", deployments: [] },
  deployment: { name: "p", credentials: {} },
  model: "m",
  format: "chat-completions",
} as unknown as Target;

/** A messages client and a chat-completions provider. */
function open(body: FakeBody, options: { stop?: string[]; hooked?: boolean } = {}) {
  const attempt = new Attempt(new Call("req_x", "messages", new Headers()), target);
  attempt.call.model = "m";
  if (options.stop)
    attempt.request = {
      model: "m",
      turns: [],
      tools: [],
      stop: options.stop,
      stream: true,
      style: {},
      extra: {},
    };
  const clock = new Clock();
  const gateway = { clock, backlog: new Backlog(clock) } as unknown as Gateway;
  const events = new ProviderEvents(body, chatCompletionsFormat.upstream, attempt, gateway);
  const piped = options.hooked ? new PluginEvents(iterate(events)) : events;
  const writer = messagesFormat.client!.codec.writeStream(attempt.context);
  return { attempt, source: new TranslatedSource(piped, new Meter(attempt, []), writer) };
}

/** The pieces for the client, and what the source threw after them. */
async function drain(source: TranslatedSource): Promise<{ pieces: string[]; error?: unknown }> {
  const pieces: string[] = [];
  try {
    await source.begin();
    for (;;) {
      const { value } = await nextPiece(source);
      if (!value) return { pieces };
      pieces.push(Buffer.from(value).toString());
    }
  } catch (error) {
    return { pieces, error };
  }
}

const frame = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const delta = (content: string) =>
  frame({ id: "c", model: "m", choices: [{ index: 0, delta: { content } }] });
const finish = frame({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const done = frame("[DONE]");
const failed = frame({ error: { message: "boom" } });
const namesIn = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
const reset = new Error("reset");

describe("pieces", () => {
  test("all that one read brings in is one piece, and a read without a whole event is none", async () => {
    const body = new FakeBody([
      delta("a") + delta("b") + delta("c").slice(0, 9),
      delta("c").slice(9, 20),
      delta("c").slice(20),
      finish + done,
    ]);
    const { pieces } = await drain(open(body).source);
    expect(pieces.map(namesIn)).toEqual([
      ["message_start", "content_block_start", "content_block_delta", "content_block_delta"],
      ["content_block_delta"],
      ["content_block_stop", "message_delta", "message_stop"],
    ]);
    expect(body.reads).toBe(4);
  });

  test("how the provider cuts its bytes does not change the client's bytes", async () => {
    const whole = delta("Grüße 😀") + delta("b") + finish + done;
    const expected = (await drain(open(new FakeBody([whole])).source)).pieces.join("");
    expect(expected).toContain("message_stop");
    for (const size of [1, 2, 7, 50]) {
      const bytes = Buffer.from(whole);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect((await drain(open(new FakeBody(chunks)).source)).pieces.join("")).toBe(expected);
    }
  });

  test("the same bytes pass a plugin's answer hook, event by event", async () => {
    const whole = delta("a") + delta("b") + finish + done;
    const direct = await drain(open(new FakeBody([whole])).source);
    const hooked = await drain(open(new FakeBody([whole]), { hooked: true }).source);
    expect(hooked.pieces.join("")).toBe(direct.pieces.join(""));
  });
});

describe("failures", () => {
  for (const hooked of [false, true]) {
    const through = hooked ? "through a hook" : "directly";
    test(`events before an error of the same read reach the client first, ${through}`, async () => {
      const body = new FakeBody([delta("a") + failed + delta("late")]);
      const { pieces, error } = await drain(open(body, { hooked }).source);
      expect(namesIn(pieces.join(""))).toEqual([
        "message_start",
        "content_block_start",
        "content_block_delta",
      ]);
      expect(error).toMatchObject({ kind: "upstream", message: "boom" });
      expect(body.cancelled).toBeTrue();
    });

    test(`an error that comes first is thrown before any byte, ${through}`, async () => {
      const { source } = open(new FakeBody([failed]), { hooked });
      expect(source.begin()).rejects.toThrow("boom");
    });

    test(`an answer that ends or breaks before its finish reason gets no ending, ${through}`, async () => {
      for (const ending of ["end", reset] as const) {
        const { pieces, error } = await drain(open(new FakeBody([delta("a")], ending), { hooked }).source);
        expect(error).toMatchObject({ kind: "upstream", code: "stream_incomplete" });
        expect(pieces.join("")).not.toContain("message_delta");
      }
    });
  }

  test("the writer writes the error event if it depends on the events before it", async () => {
    const events = new PluginEvents(
      (async function* (): AsyncGenerator<ChatEvent> {
        yield { type: "message-start", id: "1", model: "m" };
        throw new GatewayError("upstream", "boom");
      })(),
    );
    let number = 0;
    const numbered = (data: string) => [{ data: `${number++} ${data}` }];
    const writer: AnswerWriter = {
      push: ({ type }) => numbered(type),
      end: () => [],
      fail: ({ message }) => numbered(message),
    };
    const call = new Call("req_x", "numbered", new Headers());
    const source = new TranslatedSource(events, new Meter(new Attempt(call, target), []), writer);
    await source.begin();
    const failures: GatewayError[] = [];
    const { codec } = messagesFormat.client!;
    const body = answerStream({
      source,
      call,
      codec,
      body: streamBody(call, codec.framing),
      clock: new Clock(),
      timeouts: NO_TIMEOUTS,
      ending: { complete() {}, failed: (error) => void failures.push(error), cancelled() {} },
    });
    const reader = body.getReader();
    const first = await reader.read();
    const last = await reader.read();
    expect(String(Buffer.from(first.value!))).toBe("data: 0 message-start\n\n");
    expect(String(Buffer.from(last.value!))).toBe("data: 1 boom\n\n");
    expect(failures.map(({ message }) => message)).toEqual(["boom"]);
    await reader.cancel();
  });

  test("a connection that breaks after the finish reason is no failure", async () => {
    const { pieces, error } = await drain(open(new FakeBody([delta("a"), finish], reset)).source);
    expect(error).toBeUndefined();
    expect(namesIn(pieces.join("")).at(-1)).toBe("message_stop");
  });

  test("an aborted call gives its reason, however far the answer has come", async () => {
    const { attempt, source } = open(new FakeBody([delta("a"), finish], reset));
    await source.begin();
    const reason = new GatewayError("timeout", "Too slow.");
    attempt.call.abort(reason);
    expect((await drain(source)).error).toBe(reason);
  });
});

describe("the connection to the provider", () => {
  test("nothing is read as answer after [DONE], and the body is read to its end to keep the connection", async () => {
    const body = new FakeBody([delta("a") + done + failed, ""]);
    const { pieces, error } = await drain(open(body).source);
    expect(error).toBeUndefined();
    expect(namesIn(pieces.join("")).at(-1)).toBe("message_stop");
    expect(body.cancelled).toBeFalse();
    expect(body.reads).toBe(2);
  });

  test("is closed when weir ends the answer at a stop sequence", async () => {
    const stop = ["a", "b", "c", "d", "END"];
    const body = new FakeBody([delta("x E"), delta("ND y"), delta("z")], "open");
    const { pieces } = await drain(open(body, { stop }).source);
    expect(pieces.join("")).toContain('"stop_sequence":"END"');
    expect(pieces.join("")).not.toContain('"text":" y"');
    expect(body.cancelled).toBeTrue();
  });

  test("is closed when the client leaves", async () => {
    const body = new FakeBody([delta("a")], "open");
    const { source } = open(body);
    await source.begin();
    source.stop(new Error("gone"));
    expect(body.cancelled).toBeTrue();
  });
});
