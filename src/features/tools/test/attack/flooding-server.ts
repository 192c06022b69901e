/**
 * A server over HTTP for tests whose tools answer with too much. Prints its URL.
 *
 *     bun flooding-server.ts [tools in its list]
 */
const ENCODER = new TextEncoder();
const count = Number(process.argv[2] ?? 0);
const NAMES = ["echo", "event", "many", "endless", "invalid", "deep", "json"];
const tools = [
  ...NAMES,
  ...Array.from({ length: Math.max(0, count - NAMES.length) }, (_, at) => `tool-${at}`),
].map((name) => ({ name, inputSchema: { type: "object" } }));

function* pieces(name: string, id: number): Generator<string | Uint8Array> {
  const block = "x".repeat(65_536);
  const open = `data: {"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":`;
  const told =
    `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"t":"${"x".repeat(40)}"}}\n\n`.repeat(500);
  if (name === "event") {
    yield `${open}"`;
    for (let at = 0; at < 320; at++) yield block;
    yield '"}}\n\n';
  }
  if (name === "many") for (;;) yield told;
  if (name === "endless") {
    yield open;
    for (;;) yield block;
  }
  if (name === "invalid")
    yield new Uint8Array([...ENCODER.encode(`${open}"`), 0xff, 0xfe, ...ENCODER.encode('"}}\n\n')]);
  if (name === "deep") yield `${open}${"[".repeat(10_000)}${"]".repeat(10_000)}}}\n\n`;
  if (name === "echo") yield `${open}[{"type":"text","text":"here"}]}}\n\n`;
}

function listed(cursor: unknown) {
  if (count === 0) return { tools: tools.slice(0, 1), nextCursor: "again" };
  const from = Number(cursor ?? 0);
  const next = from + 100;
  return { tools: tools.slice(from, next), ...(next < tools.length && { nextCursor: String(next) }) };
}

const server = Bun.serve({
  ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = (await request.json()) as {
      id: number;
      method: string;
      params: { name: string; cursor?: string };
    };
    const answer = (result: object) =>
      Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ttlMs: 0, ...result } });
    if (method === "server/discover")
      return answer({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    if (method === "tools/list") return answer(listed(params.cursor));
    const all = pieces(params.name, id);
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = all.next();
        if (done) return controller.close();
        controller.enqueue(typeof value === "string" ? ENCODER.encode(value) : value);
        await Bun.sleep(0);
      },
    });
    const type = params.name === "json" ? "application/json" : "text/event-stream";
    return new Response(body, { headers: { "content-type": type } });
  },
});
console.log(server.url.href);
