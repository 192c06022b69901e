/** Two gateways that share nothing, upstreams whose next answers are scripted, and clients that keep their history. */
import type Anthropic from "@anthropic-ai/sdk";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway, TARGET, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, collect, openaiClient } from "../helpers/sdk.ts";
import { type Answer, json, startUpstream, type Upstream } from "../helpers/upstream.ts";

export interface Stage {
  /** Processes of their own: what one remembers the other does not know. */
  gateways: RunningGateway[];
  /** Answers as `anthropic` (Messages) and as `house`, `signer` (chat-completions). */
  upstream: Upstream;
  stop(): Promise<void>;
}

/** Two chat-completions hosts: one wants plain reasoning back, one signs it. */
const hosts = (url: string) => `
import { chatCompletions, definePlugin } from "weir";
export default definePlugin({
  name: "hosts",
  providers: ["house", "signer"].map((name) =>
    chatCompletions({
      name,
      models: [name + "/*"],
      baseUrl: "${url}/v1",
      traits: { reasoningReplay: name === "house" ? "required" : "optional" },
    }),
  ),
});
`;

export async function startStage(): Promise<Stage> {
  const upstream = startUpstream(json({}));
  const start = () =>
    startGateway({
      config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      plugins: { "hosts.ts": hosts(upstream.url) },
      target: TARGET === "source" ? "process" : TARGET,
    });
  const gateways = await Promise.all([start(), start()]);
  return {
    gateways,
    upstream,
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      upstream.stop();
    },
  };
}

/** One turn asked of both gateways, answered alike; the answer is the second one's on every second turn. */
async function askBoth<Reply>(
  stage: Stage,
  turn: number,
  answer: Answer,
  ask: (url: string) => Promise<Reply>,
): Promise<{ reply: Reply; sent: string[] }> {
  stage.upstream.answer(() => answer);
  const replies: Reply[] = [];
  const sent: string[] = [];
  for (const gateway of stage.gateways) {
    replies.push(await ask(gateway.url));
    sent.push(stage.upstream.requests.at(-1)!.body.toString("utf8"));
  }
  return { reply: replies[turn % replies.length]!, sent };
}

export interface Played<Reply> {
  replies: Reply[];
  /** The upstream's bodies by turn, one of each gateway. */
  bodies: string[][];
}

type ChatMessage = JsonObject;

/** A chat client that sends back all an assistant message had, as agents that know OpenRouter's members do. */
export async function playChat(
  stage: Stage,
  request: { model: string; tools: JsonObject[]; messages: ChatMessage[]; [more: string]: unknown },
  script: Answer[],
  next: (reply: ChatMessage, turn: number) => ChatMessage[],
): Promise<Played<ChatMessage>> {
  const played: Played<ChatMessage> = { replies: [], bodies: [] };
  const messages = [...request.messages];
  for (const [turn, answer] of script.entries()) {
    const body = { ...request, messages, stream: true as const };
    const { reply, sent } = await askBoth(stage, turn, answer, async (url) => {
      const stream = await openaiClient(url).chat.completions.create(
        body as unknown as Parameters<ReturnType<typeof openaiClient>["chat"]["completions"]["create"]>[0] & {
          stream: true;
        },
      );
      return gather((await collect(stream)).map((chunk) => chunk as unknown as JsonObject));
    });
    played.replies.push(reply);
    played.bodies.push(sent);
    messages.push(reply, ...next(reply, turn));
  }
  return played;
}

interface Delta {
  content?: string;
  reasoning_details?: JsonObject[];
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[];
}

/** A streamed answer as the message a client keeps: fragments of reasoning as they came. */
function gather(chunks: JsonObject[]): ChatMessage {
  const details: JsonObject[] = [];
  const calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  let content = "";
  for (const chunk of chunks) {
    const delta = ((chunk.choices as JsonObject[])[0]?.delta ?? {}) as Delta;
    content += delta.content ?? "";
    details.push(...(delta.reasoning_details ?? []));
    for (const part of delta.tool_calls ?? []) {
      const call = (calls[part.index] ??= {
        id: part.id!,
        type: "function",
        function: { name: part.function.name!, arguments: "" },
      });
      call.function.arguments += part.function.arguments ?? "";
    }
  }
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A messages client that sends back what it was given, block by block. */
export async function playMessages(
  stage: Stage,
  request: Omit<Anthropic.MessageStreamParams, "stream">,
  script: Answer[],
  next: (reply: Anthropic.Message, turn: number) => Anthropic.MessageParam[],
): Promise<Played<Anthropic.Message>> {
  const played: Played<Anthropic.Message> = { replies: [], bodies: [] };
  const messages = [...request.messages];
  for (const [turn, answer] of script.entries()) {
    const { reply, sent } = await askBoth(stage, turn, answer, (url) =>
      anthropicClient(url)
        .messages.stream({ ...request, messages })
        .finalMessage(),
    );
    played.replies.push(reply);
    played.bodies.push(sent);
    messages.push({ role: "assistant", content: reply.content }, ...next(reply, turn));
  }
  return played;
}

/** The bodies of each turn, of which both gateways wrote the same. @throws when they differ. */
export function sameOfBoth(bodies: readonly string[][]): string[] {
  return bodies.map(([one, two], turn) => {
    if (one !== two) throw new Error(`Turn ${turn} was written in two ways:\n${one}\n${two}`);
    return one!;
  });
}

/** A body up to the end of its last message: what the next turn's body has to begin with. */
export function prefixOf(body: string): string {
  if (!body.endsWith("]}")) throw new Error(`The messages are not the last member: …${body.slice(-80)}`);
  return body.slice(0, -2);
}
