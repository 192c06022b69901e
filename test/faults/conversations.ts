/**
 * Conversations under failures: many requests at once extend few conversations, over several workers or gateways, while
 * processes are killed. At the end each conversation has what its clients know of it: every turn that was added once, none that
 * was not, and no item between a question and its answer.
 */
import type { JsonObject } from "../../src/core/json.ts";
import { chatChunk } from "../helpers/event-streams.ts";
import { until } from "../helpers/serving.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

export interface ConversationsOptions {
  /** Of gateways that share a store. */
  urls: readonly string[];
  /** The key whose conversations they are, and one that tries to reach them. */
  keys: readonly [string, string];
  conversations: number;
  /** Turns of each conversation, of which several run at once. */
  turns: number;
  /** What is done in the meantime, after which share of all turns. */
  faults: readonly { at: number; strike(): unknown }[];
}

export interface ConversationsReport {
  /** Turns of which the client knows that they are in the conversation, that they are not, and neither. */
  added: number;
  refused: number;
  unclear: number;
  /** Turns that should be there and are not, and that should not and are. */
  lost: string[];
  extra: string[];
  twice: string[];
  /** Questions that their answer does not follow. */
  torn: string[];
  /** Requests of the other key that were not refused. */
  foreign: number;
  struck: number;
}

interface Turn {
  text: string;
  conversation: string;
  kind: "answer" | "stream" | "items";
  outcome: "added" | "refused" | "unclear";
}

const AT_ONCE = 16;
const KINDS = ["answer", "stream", "items"] as const;
/** Every so many turns, the other key tries to extend the conversation. */
const FOREIGN = 20;

/** A host that answers each question by its last words. */
export function startRepeater(hostname?: string): Upstream {
  return startUpstream(({ path, body }) => {
    if (path.endsWith("/models")) return json({ object: "list", data: [] });
    const { messages, stream } = JSON.parse(body.toString()) as {
      messages: { content: string }[];
      stream?: boolean;
    };
    const content = `answer to ${messages.at(-1)!.content}`;
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (stream)
      return sse([chatChunk({ role: "assistant", content }), chatChunk({}, "stop"), "data: [DONE]\n\n"]);
    return json({
      ...{ id: "c1", object: "chat.completion", created: 1, model: "m", usage },
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    });
  }, hostname);
}

/** Runs all turns, and compares the conversations with what the clients know. */
export async function runConversations(options: ConversationsOptions): Promise<ConversationsReport> {
  const { urls, keys, conversations, turns: each, faults } = options;
  const client = (number: number) => new Client(urls[number % urls.length]!, keys[0]);
  const ids: string[] = [];
  for (let n = 0; n < conversations; n++) ids.push(await client(n).create());
  const waiting = Array.from({ length: conversations * each }, (_, n): Turn => ({
    ...{ text: `turn ${n}.`, conversation: ids[n % conversations]!, outcome: "unclear" },
    kind: KINDS[Math.floor(n / conversations) % KINDS.length]!,
  }));
  const turns = [...waiting];
  const ahead = [...faults];
  let foreign = 0;
  const work = async () => {
    for (let turn = waiting.shift(); turn; turn = waiting.shift()) {
      const number = turns.length - waiting.length;
      if (ahead[0] && number >= ahead[0].at * turns.length) await ahead.shift()!.strike();
      turn.outcome = await client(number).take(turn);
      if (turn.outcome !== "added") await Bun.sleep(50);
      if (number % FOREIGN !== 0) continue;
      const other = await new Client(urls[0]!, keys[1]).take({ ...turn, text: "intruder" });
      if (other === "added") foreign++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const count = (outcome: Turn["outcome"]) => turns.filter((turn) => turn.outcome === outcome).length;
  const found = new Map<string, readonly string[]>();
  for (const id of ids) found.set(id, await client(0).texts(id));
  return {
    ...{ added: count("added"), refused: count("refused"), unclear: count("unclear") },
    ...compare(turns, found),
    ...{ foreign, struck: faults.length - ahead.length },
  };
}

function compare(turns: readonly Turn[], found: ReadonlyMap<string, readonly string[]>) {
  const seen = { lost: [] as string[], extra: [] as string[], twice: [] as string[], torn: [] as string[] };
  for (const turn of turns) {
    const texts = found.get(turn.conversation)!;
    const times = texts.filter((text) => text === turn.text).length;
    if (times === 0 && turn.outcome === "added") seen.lost.push(turn.text);
    if (times > 0 && turn.outcome === "refused") seen.extra.push(turn.text);
    if (times > 1) seen.twice.push(turn.text);
    const isAnswered = texts[texts.indexOf(turn.text) + 1] === `answer to ${turn.text}`;
    if (times > 0 && turn.kind !== "items" && !isAnswered) seen.torn.push(turn.text);
  }
  const known = new Set(turns.flatMap(({ text }) => [text, `answer to ${text}`]));
  seen.extra.push(...[...found.values()].flat().filter((text) => !known.has(text)));
  return seen;
}

/** A client of one gateway, with a connection for each request: the system gives it to one of the workers. */
class Client {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async create(): Promise<string> {
    const { body } = await this.#ask("/conversations", {});
    return String((body as JsonObject)["id"]);
  }

  /** What the client knows of the turn then. */
  async take({ kind, text, conversation }: Turn): Promise<Turn["outcome"]> {
    if (kind === "items") {
      const items = [{ role: "user", content: text }];
      const { status } = await this.#ask(`/conversations/${conversation}/items`, { items });
      return status === 200 ? "added" : status === 0 ? "unclear" : "refused";
    }
    const { status, body } = await this.#ask("/responses", {
      ...{ model: "host/m", input: text, conversation },
      ...{ stream: kind === "stream" },
    });
    if (status === 0) return "unclear";
    if (status !== 200) return "refused";
    const answer = kind === "stream" ? lastOf(String(body)) : (body as JsonObject);
    if (!answer) return "unclear";
    return answer["conversation"] ? "added" : "refused";
  }

  /** The texts of the conversation, page by page. */
  async texts(id: string): Promise<string[]> {
    const texts: string[] = [];
    let after = "";
    for (let more = true; more;) {
      const path = `/conversations/${id}/items?order=asc&limit=100${after}`;
      let page: JsonObject = {};
      await until(async () => {
        const { status, body } = await this.#ask(path);
        page = body as JsonObject;
        return status === 200;
      }, 20_000);
      const data = page["data"] as { content: { text: string }[] }[];
      texts.push(...data.map(({ content }) => content.map(({ text }) => text).join("")));
      after = `&after=${String(page["last_id"])}`;
      more = page["has_more"] === true;
    }
    return texts;
  }

  /** Status 0: the connection broke. */
  async #ask(path: string, body?: JsonObject): Promise<{ status: number; body?: JsonObject | string }> {
    try {
      const response = await fetch(`${this.#url}/v1${path}`, {
        ...(body && { method: "POST", body: JSON.stringify(body) }),
        headers: {
          ...{ "content-type": "application/json", authorization: `Bearer ${this.#key}` },
          connection: "close",
        },
      });
      const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
      const read = isStream ? await response.text() : ((await response.json()) as JsonObject);
      return { status: response.status, body: read };
    } catch {
      return { status: 0 };
    }
  }
}

/** The answer in the last event of a stream; `undefined` for a stream that breaks off. */
function lastOf(text: string): JsonObject | undefined {
  const line = text.split("\n").findLast((one) => one.startsWith("data: {"));
  const event = line === undefined ? {} : (JSON.parse(line.slice(6)) as JsonObject);
  return event["type"] === "response.completed" ? (event["response"] as JsonObject) : undefined;
}
