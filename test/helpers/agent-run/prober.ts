/**
 * A client of tools alone, which prints all that it gets: equal calls at once, progress, a question of the server, an error.
 *
 *     bun prober.ts legacy|auto LINE
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [mode, line = "one"] = process.argv.slice(2);
const client = new Client(
  { name: "prober", version: "1" },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: mode === "legacy" ? "legacy" : "auto" },
  },
);
client.setRequestHandler("elicitation/create", ({ params }) => {
  say("asked", params.message);
  return { action: "accept" as const, content: { name: "Anna" } };
});
const say = (what: string, value: unknown) => console.log(`${what} ${JSON.stringify(value)}`);
interface Got {
  text?: string;
  isError?: boolean;
  error?: string;
}

async function call(name: string, args: Record<string, unknown> = {}, more: object = {}): Promise<Got> {
  try {
    const { content, isError } = await client.callTool({ name, arguments: args }, more);
    return {
      text: (content as { text?: string }[]).map(({ text }) => text).join(),
      ...(isError && { isError }),
    };
  } catch (thrown) {
    return { error: (thrown as Error).message };
  }
}

await client.connect(new StreamableHTTPClientTransport(new URL(`${process.env["WEIR_URL"]}/mcp/notes`)));
say("speaks", client.getNegotiatedProtocolVersion());
say(
  "tools",
  (await client.listTools()).tools.map(({ name }) => name),
);
say("wrote", await call("append", { line }));
const readings = await Promise.all([call("read"), call("read"), call("read")]);
say("read", readings.map(({ text }) => text).sort());
const progress: unknown[] = [];
say(
  "counted",
  await call("count", {}, { onprogress: ({ progress: at }: { progress: number }) => progress.push(at) }),
);
say("progress", progress);
say("answered", await call("ask"));
say("unknown", await call("nothing"));
await client.close();
