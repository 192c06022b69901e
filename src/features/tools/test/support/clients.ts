/** Clients of both eras, as plain requests. */
import { isObject, type JsonObject } from "../../../../core/json.ts";

export interface ClientOptions {
  /** `http://127.0.0.1:PORT/mcp` or with the name of a server. */
  readonly url: string;
  readonly key?: string;
  readonly capabilities?: JsonObject;
  /** Answers a request of the server. */
  answer?(method: string, params: JsonObject): JsonObject;
  notified?(method: string, params: JsonObject): void;
}

/** An answer: status and the message with the result, and what came before it. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly message: JsonObject;
}

/** Events of a stream, or the one message of a JSON body. */
export async function* messagesOf(response: Response): AsyncGenerator<JsonObject, void> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const body = await response.text();
    if (body !== "") yield JSON.parse(body) as JsonObject;
    return;
  }
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trim())
        .join("");
      if (data !== "") yield JSON.parse(data) as JsonObject;
    }
  }
}

function authorized({ key }: ClientOptions): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

/** A client of revision 2026-07-28. */
export class ModernClient {
  readonly options: ClientOptions;
  #id = 0;

  constructor(options: ClientOptions) {
    this.options = options;
  }

  /** @param more members of `_meta` */
  async send(
    method: string,
    params: JsonObject = {},
    {
      headers = {},
      meta = {},
      signal,
    }: { headers?: Record<string, string>; meta?: JsonObject; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const name = params["name"] ?? params["uri"];
    return fetch(this.options.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof name === "string" && { "mcp-name": name }),
        ...authorized(this.options),
        ...headers,
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: ++this.#id, method },
        params: {
          ...params,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": this.options.capabilities ?? {},
            ...meta,
          },
        },
      }),
      ...(signal && { signal }),
    });
  }

  async request(
    method: string,
    params: JsonObject = {},
    options: Parameters<ModernClient["send"]>[2] = {},
  ): Promise<Received> {
    const response = await this.send(method, params, options);
    return received(response, this.options);
  }

  /** Calls a tool, and answers what its server asks. */
  async call(
    name: string,
    args: JsonObject = {},
    options: Parameters<ModernClient["send"]>[2] = {},
  ): Promise<Received> {
    let params: JsonObject = { name, arguments: args };
    for (let round = 0; round < 10; round++) {
      const got = await this.request("tools/call", params, options);
      const result = got.message["result"];
      if (!isObject(result) || result["resultType"] !== "input_required") return got;
      const questions = result["inputRequests"] as Record<string, { method: string; params: JsonObject }>;
      const inputResponses = Object.fromEntries(
        Object.entries(questions).map(([key, wish]) => [key, this.options.answer!(wish.method, wish.params)]),
      );
      const { requestState } = result;
      params = { name, arguments: args, inputResponses, ...(requestState !== undefined && { requestState }) };
    }
    throw new Error("too many rounds");
  }
}

/** A client of revision 2025-11-25. */
export class LegacyClient {
  readonly options: ClientOptions;
  session = "";
  #id = 0;

  private constructor(options: ClientOptions) {
    this.options = options;
  }

  static async open(options: ClientOptions): Promise<LegacyClient> {
    const client = new LegacyClient(options);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: options.capabilities ?? {},
      clientInfo: { name: "test", version: "1" },
    };
    const response = await client.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    client.session = response.headers.get("mcp-session-id") ?? "";
    if (client.session === "") throw new Error(await response.text());
    await client.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  post(message: JsonObject, signal?: AbortSignal): Promise<Response> {
    return fetch(this.options.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...this.headers(),
      },
      body: JSON.stringify(message),
      ...(signal && { signal }),
    });
  }

  headers(): Record<string, string> {
    return {
      ...authorized(this.options),
      ...(this.session !== "" && { "mcp-session-id": this.session, "mcp-protocol-version": "2025-11-25" }),
    };
  }

  /** @returns id of the request, and its answer */
  start(method: string, params: JsonObject = {}): { id: number; response: Promise<Response> } {
    const id = ++this.#id;
    return { id, response: this.post({ jsonrpc: "2.0", id, method, params }) };
  }

  async request(method: string, params: JsonObject = {}): Promise<Received> {
    return received(
      await this.start(method, params).response,
      this.options,
      (answer) => void this.post(answer),
    );
  }

  call(name: string, args: JsonObject = {}, meta?: JsonObject): Promise<Received> {
    return this.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
  }
}

async function received(
  response: Response,
  options: ClientOptions,
  respond: (answer: JsonObject) => void = () => {},
): Promise<Received> {
  const { status, headers } = response;
  let last: JsonObject = {};
  for await (const message of messagesOf(response)) {
    const { id, method, params } = message;
    if (typeof method !== "string") last = message;
    else if (id === undefined) options.notified?.(method, (params ?? {}) as JsonObject);
    else respond({ jsonrpc: "2.0", id, result: options.answer!(method, (params ?? {}) as JsonObject) });
  }
  return { status, headers, message: last };
}

/** The first text of a result. */
export function textOf({ message }: Received): string {
  const { result, error } = message as {
    result?: { content?: { text?: string }[] };
    error?: { message: string };
  };
  return result?.content?.[0]?.text ?? `error ${error?.message}`;
}
