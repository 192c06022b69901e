/** Clients of the tools endpoints that send what a test wants, in both eras. */

export interface ToolsAnswer {
  readonly status: number;
  readonly result?: any;
  readonly error?: any;
}

const META = "io.modelcontextprotocol/";

/** One modern request. @param capabilities of the client */
export async function askModern(
  url: string,
  credential: string,
  {
    method,
    params = {},
    capabilities = {},
    headers: more = {},
  }: { method: string; params?: object; capabilities?: object; headers?: Record<string, string> },
): Promise<ToolsAnswer> {
  const { name } = params as { name?: string };
  const _meta = {
    [`${META}protocolVersion`]: "2026-07-28",
    [`${META}clientInfo`]: { name: "test", version: "1" },
    [`${META}clientCapabilities`]: capabilities,
  };
  const headers = {
    ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": method },
    ...(name !== undefined && { "mcp-name": name }),
    ...more,
  };
  return (await send(url, credential, { id: 1, method, params: { ...params, _meta } }, headers)).answer;
}

/** A session of a legacy client. */
export async function openLegacy(url: string, credential: string, capabilities: object = {}) {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test", version: "1" } };
  const { answer, session } = await send(url, credential, { id: 0, method: "initialize", params });
  let id = 0;
  return {
    opened: answer,
    ask: async (method: string, more: object = {}) => {
      const headers = { "mcp-protocol-version": "2025-11-25", "mcp-session-id": session ?? "" };
      return (await send(url, credential, { id: ++id, method, params: more }, headers)).answer;
    },
  };
}

async function send(url: string, credential: string, message: object, more: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...{ authorization: `Bearer ${credential}`, ...more },
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  const text = await answer.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  return {
    answer: { status: answer.status, ...(JSON.parse(json) as object) } as ToolsAnswer,
    session: answer.headers.get("mcp-session-id"),
  };
}
