/** A small client of either era, written from the specification alone: it shares no code with the gateway that it judges. */
export type Members = Record<string, unknown>;

/** Answers what a server asks of the client: a question, a sample, its roots. */
export type Respond = (method: string, params: Members) => Members;

export interface PeerOptions {
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly capabilities?: Members;
  readonly respond?: Respond;
  /** Hears progress and log messages. */
  readonly heard?: (method: string, params: Members) => void;
}

export interface Peer {
  /** @throws PeerError for an error */
  request(method: string, params?: Members): Promise<Members>;
  close(): Promise<void>;
}

export class PeerError extends Error {
  readonly status: number;
  readonly code: number | undefined;
  readonly data: unknown;

  constructor(status: number, { code, message, data }: { code?: number; message?: string; data?: unknown }) {
    super(`${status} ${code ?? ""} ${message ?? ""}`);
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

interface Message {
  /** Of the event that brought it. */
  event?: string;
  id?: unknown;
  method?: string;
  params?: Members;
  result?: Members;
  error?: { code: number; message: string; data?: unknown };
}

const CLIENT = { name: "peer", version: "1.0.0" };
const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
/** Rounds of input before it gives up. */
const ROUNDS = 10;
/** How long it waits before it comes back to a stream that ended. Milliseconds. */
const RETRY_MS = 500;

/** The messages of a body, JSON or a stream of events, as they come. An event without data only has its id. */
async function* messagesIn(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await response.text();
    if (text !== "") yield JSON.parse(text) as Message;
    return;
  }
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop()!;
    for (const event of events) yield messageOf(event);
  }
}

function messageOf(event: string): Message {
  const of = (field: string) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).trimStart())
      .join("\n");
  const [data, id] = [of("data"), of("id")];
  return { ...(data !== "" && (JSON.parse(data) as Message)), ...(id !== "" && { event: id }) };
}

function post(url: string, headers: Record<string, string>, message: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

/**
 * Reads an answer up to the response with the id.
 * @param other takes every other message
 * @param resume asks again for what came after the event, once the stream has ended
 */
async function answerOf(
  response: Response,
  id: number,
  other: (message: Message) => void,
  resume?: (event: string) => Promise<Response>,
): Promise<Members> {
  let last: string | undefined;
  for await (const message of messagesIn(response)) {
    last = message.event ?? last;
    if (message.method !== undefined) other(message);
    else if (message.id === id || !response.ok) {
      if (message.error) throw new PeerError(response.status, message.error);
      if (message.result) return message.result;
    }
  }
  if (last === undefined || !resume) throw new PeerError(response.status, { message: "no answer" });
  return answerOf(await resume(last), id, other, resume);
}

/** A client with a session. */
export async function legacyPeer({
  url,
  headers = {},
  capabilities = {},
  respond,
  heard,
}: PeerOptions): Promise<Peer> {
  let next = 0;
  const own: Record<string, string> = { ...headers };
  const other = ({ id, method, params = {} }: Message) => {
    if (id === undefined) heard?.(method!, params);
    else void post(url, own, { id, ...answerTo(respond, method!, params) });
  };
  const resume = async (event: string) => {
    await Bun.sleep(RETRY_MS);
    return fetch(url, { headers: { ...own, accept: "text/event-stream", "last-event-id": event } });
  };
  const request = async (method: string, params: Members = {}) => {
    const id = next++;
    return answerOf(await post(url, own, { id, method, params }), id, other, resume);
  };
  const first = await post(url, own, {
    ...{ id: next, method: "initialize" },
    params: { protocolVersion: LEGACY, capabilities, clientInfo: CLIENT },
  });
  const result = await answerOf(first, next++, other);
  const session = first.headers.get("mcp-session-id");
  if (session !== null) own["mcp-session-id"] = session;
  own["mcp-protocol-version"] = String(result["protocolVersion"]);
  await post(url, own, { method: "notifications/initialized" });
  return {
    request,
    close: async () => void (await fetch(url, { method: "DELETE", headers: own }).catch(() => undefined)),
  };
}

function answerTo(respond: Respond | undefined, method: string, params: Members): object {
  return respond
    ? { result: respond(method, params) }
    : { error: { code: -32601, message: `${method} is not known` } };
}

/** A client without one, which answers rounds of input. */
export function modernPeer({ url, headers = {}, capabilities = {}, respond, heard }: PeerOptions): Peer {
  let next = 0;
  const once = async (method: string, params: Members): Promise<Members> => {
    const id = next++;
    const name = params["name"] ?? params["uri"];
    const own = {
      ...headers,
      ...{ "mcp-protocol-version": MODERN, "mcp-method": method },
      ...(typeof name === "string" && { "mcp-name": name }),
    };
    const meta = {
      ...(params["_meta"] as Members | undefined),
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientInfo": CLIENT,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const response = await post(url, own, { id, method, params: { ...params, _meta: meta } });
    return answerOf(response, id, ({ method: said, params: told = {} }) => heard?.(said!, told));
  };
  return {
    async request(method, params = {}) {
      let asked = params;
      for (let round = 0; round < ROUNDS; round++) {
        const result = await once(method, asked);
        if (result["resultType"] !== "input_required" || !respond) return result;
        const wanted = (result["inputRequests"] ?? {}) as Record<
          string,
          { method: string; params?: Members }
        >;
        const inputResponses = Object.fromEntries(
          Object.entries(wanted).map(([key, one]) => [key, respond(one.method, one.params ?? {})]),
        );
        const state = result["requestState"];
        asked = { ...params, inputResponses, ...(state !== undefined && { requestState: state }) };
      }
      throw new Error(`${method} wants input after ${ROUNDS} rounds`);
    },
    close: () => Promise.resolve(),
  };
}
