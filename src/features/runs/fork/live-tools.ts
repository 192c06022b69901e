/** Sessions with servers of tools for clients whose own sessions come from the tape, and what the servers say of their tools. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Visited } from "../../../gateway/seams.ts";
import { parseFrames } from "../../../stream/sse.ts";
import type { ToolMessage } from "../../../tapes/tool-message.ts";
import { SESSION } from "../../../tapes/tool-recorder.ts";
import type { Sessions } from "../../../tapes/tool-sessions.ts";

type Next = (changed?: Visited) => Promise<Response>;

/** Pages of a list of tools that are read at most. */
const MOST_PAGES = 50;

/** One request on its way to servers that run. */
export interface LiveRequest {
  readonly visited: Visited;
  readonly next: Next;
  readonly message: ToolMessage;
}

export class LiveTools {
  readonly #sessions: Sessions;
  /** Sessions at the gateway by those of clients. */
  readonly #begun = new Map<string, Promise<string | undefined>>();
  /** Tools that are marked as reading only, by endpoint and session. */
  readonly #readOnly = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Sends the message on, in a session that weir begins for it where the client has one. */
  async send(live: LiveRequest): Promise<Response> {
    return this.#post(live, live.message.value, await this.#sessionOf(live));
  }

  /** Begins a session of the client at the gateway as well. @returns the answer, with the id of the client's session */
  async begin(live: LiveRequest): Promise<Response> {
    const answer = await this.#post(live, live.message.value, undefined);
    const real = answer.headers.get(SESSION);
    if (real === null) return answer;
    const own = this.#sessions.add(live.message);
    this.#begun.set(own, Promise.resolve(real));
    const headers = new Headers(answer.headers);
    headers.set(SESSION, own);
    return new Response(answer.body, { status: answer.status, headers });
  }

  /** Whether the client's session has one at the gateway. */
  has({ headers }: Request): boolean {
    return this.#begun.has(headers.get(SESSION) ?? "");
  }

  /** Whether the server marks a tool as one that changes nothing. */
  async isReadOnly(live: LiveRequest, tool: string): Promise<boolean> {
    const { request } = live.visited;
    const key = `${new URL(request.url).pathname} ${request.headers.get(SESSION) ?? ""}`;
    let marked = this.#readOnly.get(key);
    if (!marked) this.#readOnly.set(key, (marked = this.#listReadOnly(live)));
    try {
      return (await marked).has(tool);
    } catch {
      this.#readOnly.delete(key);
      return false;
    }
  }

  async #listReadOnly(live: LiveRequest): Promise<ReadonlySet<string>> {
    const session = await this.#sessionOf(live);
    const marked = new Set<string>();
    const meta = live.message.params["_meta"];
    let cursor: unknown;
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = {
        ...(typeof cursor === "string" && { cursor }),
        ...(isObject(meta) && { _meta: meta }),
      };
      const asked = { jsonrpc: "2.0", id: `weir-fork-${page}`, method: "tools/list", params };
      const result = resultIn(await this.#post(live, asked, session));
      const { tools, nextCursor } = await result;
      for (const tool of Array.isArray(tools) ? tools.filter(isObject) : [])
        if (isObject(tool["annotations"]) && tool["annotations"]["readOnlyHint"] === true)
          marked.add(String(tool["name"]));
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    return marked;
  }

  /** @throws Error if the gateway begins no session */
  #sessionOf(live: LiveRequest): Promise<string | undefined> {
    const own = live.visited.request.headers.get(SESSION);
    const first = this.#sessions.of(live.visited.request);
    if (own === null || !first) return Promise.resolve(undefined);
    let begun = this.#begun.get(own);
    if (!begun) {
      begun = this.#begin(live, first);
      this.#begun.set(own, begun);
      begun.catch(() => this.#begun.delete(own));
    }
    return begun;
  }

  async #begin(live: LiveRequest, first: ToolMessage): Promise<string | undefined> {
    const answer = await this.#post(live, first.value, undefined);
    await resultIn(answer);
    const session = answer.headers.get(SESSION) ?? undefined;
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    await (await this.#post(live, initialized, session)).body?.cancel();
    return session;
  }

  #post({ visited, next }: LiveRequest, message: JsonObject, session: string | undefined): Promise<Response> {
    const { url, headers: given, signal } = visited.request;
    const headers = new Headers(given);
    headers.delete(SESSION);
    headers.delete("content-length");
    if (session !== undefined) headers.set(SESSION, session);
    if (headers.has("mcp-method")) headers.set("mcp-method", String(message["method"]));
    if (message["method"] === "tools/list") headers.delete("mcp-name");
    const bytes = Buffer.from(JSON.stringify(message));
    const request = new Request(url, { method: "POST", headers, signal });
    return next({ ...visited, request, visit: { ...visited.visit, body: async () => bytes } });
  }
}

/** @throws Error if the answer is no result */
async function resultIn(answer: Response): Promise<JsonObject> {
  const text = await answer.text();
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
  const texts = isStream ? parseFrames(Buffer.from(text)).map(({ data }) => data) : [text];
  const messages = texts.map((one) => parseJson(one)).filter(isObject);
  const result = messages.find((message) => isObject(message["result"]))?.["result"];
  if (!isObject(result))
    throw new Error(`the servers of tools answered ${answer.status} ${text.slice(0, 200)}`);
  return result;
}
