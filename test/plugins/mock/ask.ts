/** Asks the mock the way the gateway does. */
import type { Block, ChatRequest, Turn } from "../../../src/core/chat.ts";
import { Attempt, Call } from "../../../src/core/call.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { ActiveProvider, Deployment } from "../../../src/core/provider.ts";
import { viewOf } from "../../../src/gateway/plugins/call-view.ts";
import { mock } from "../../../plugins/mock/index.ts";

const deployment: Deployment = { name: "mock", baseUrl: "", credentials: {}, weight: 1, priority: 0 };

const provider: ActiveProvider = {
  ...mock.providers![0]!,
  deployments: [deployment],
  source: "built-in",
  patterns: ["mock/*"],
};

export function user(...content: (string | Block)[]): Turn {
  return { role: "user", blocks: content.map(asBlock) };
}

export function assistant(...content: (string | Block)[]): Turn {
  return { role: "assistant", blocks: content.map(asBlock) };
}

function asBlock(content: string | Block): Block {
  return typeof content === "string" ? { type: "text", text: content } : content;
}

/** A request for `mock/<model>`; the last argument may say anything else. */
export function request(model: string, turns: Turn[] | string, more: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: `mock/${model}`,
    turns: typeof turns === "string" ? [user(turns)] : turns,
    tools: [],
    stop: [],
    stream: true,
    style: {},
    extra: {},
    ...more,
  };
}

/** The attempt of a call whose model name has been resolved to the mock. */
export function attemptFor(model: string): Attempt {
  const call = new Call("req_test", "chat-completions", new Headers());
  call.model = `mock/${model}`;
  return new Attempt(call, {
    provider,
    deployment,
    model,
    lane: "generated",
    format: "",
    url: "",
    reason: "",
  });
}

/** The events as they come. */
export function ask(asked: ChatRequest, attempt = attemptFor(asked.model.replace("mock/", ""))) {
  return provider.generate!(asked, viewOf(attempt));
}

/** All events of an answer. */
export function askAll(asked: ChatRequest, attempt?: Attempt): Promise<ChatEvent[]> {
  return Array.fromAsync(ask(asked, attempt));
}

/** The events until the mock threw, and what it threw. */
export async function askFailing(asked: ChatRequest): Promise<{ events: ChatEvent[]; thrown: unknown }> {
  const events: ChatEvent[] = [];
  try {
    for await (const event of ask(asked)) events.push(event);
  } catch (thrown) {
    return { events, thrown };
  }
  throw new Error(`${asked.model} was expected to fail and answered ${events.length} events.`);
}

/** How an answer ended. */
export function endOf(events: readonly ChatEvent[]) {
  const end = events.at(-1);
  if (end?.type !== "message-end") throw new Error("The events do not end with message-end.");
  return end;
}

/** The tool calls of an answer, with their input put together. */
export function callsOf(events: readonly ChatEvent[]) {
  return events.flatMap((event) => {
    if (event.type !== "block-start" || event.block.type !== "tool-call") return [];
    const { index } = event;
    const pieces = events.map((piece) =>
      piece.type === "block-delta" && piece.index === index ? piece.delta : "",
    );
    return [{ ...event.block, input: pieces.join("") }];
  });
}
