import { describe, expect, test } from "bun:test";
import { Attempt, Call } from "../../../src/core/call.ts";
import type { CallView } from "../../../src/core/call-view.ts";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Provider, Target } from "../../../src/core/provider.ts";
import { generated } from "../../../src/gateway/plugins/sandbox.ts";
import { collect, PluginEvents, tapped } from "../../../src/gateway/lanes/event-source.ts";
import { Meter } from "../../../src/gateway/lanes/meter.ts";

const REQUEST = { model: "m", turns: [] } as unknown as ChatRequest;
const REASON = new GatewayError("overloaded", "The gateway is shutting down.", { code: "shutting_down" });

function newAttempt(): Attempt {
  const target = { provider: { name: "p" } } as unknown as Target;
  return new Attempt(new Call("req_x", "chat-completions", new Headers()), target);
}

/** Takes the answer of a provider that is a program, and gives the call up behind its first event. */
async function abortIn(generate: Provider["generate"]): Promise<unknown> {
  const attempt = newAttempt();
  try {
    const source = new PluginEvents(generated(generate!, REQUEST, attempt));
    const abort = ({ type }: ChatEvent) => void (type === "message-start" && attempt.call.abort(REASON));
    await collect(tapped(source, abort), new Meter(attempt, []));
    return "ended";
  } catch (cause) {
    return cause;
  }
}

const START: ChatEvent = { type: "message-start", id: "m", model: "m" };

describe("a call that is given up says why, however its program takes it", () => {
  test("one that listens and stops talking", async () => {
    const stops = async function* (_: ChatRequest, call: CallView) {
      yield START;
      while (!call.signal.aborted) yield START;
    };
    expect(await abortIn(stops)).toBe(REASON);
  });

  test("one that throws what its own fetch threw", async () => {
    const throws = async function* () {
      yield START;
      throw new DOMException("The operation was aborted.", "AbortError");
    };
    expect(await abortIn(throws as Provider["generate"])).toBe(REASON);
  });

  test("one that does not listen", async () => {
    const hangs = async function* () {
      yield START;
      await new Promise(() => {});
    };
    expect(await abortIn(hangs as Provider["generate"])).toBe(REASON);
  });

  test("without any abort an answer that stops is broken off", async () => {
    async function* half(): AsyncGenerator<ChatEvent> {
      yield START;
    }
    await expect(collect(new PluginEvents(half()), new Meter(newAttempt(), []))).rejects.toMatchObject({
      code: "stream_incomplete",
    });
  });
});
