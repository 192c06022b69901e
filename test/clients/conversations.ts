/** Starts weir with its mock and runs both clients against it: `bun test/clients/conversations.ts PYTHON PACKAGE_JSON`. */
import { join } from "node:path";
import { startGateway } from "../helpers/gateway.ts";

const [python = "python3", packages = ""] = process.argv.slice(2);
const key = "weir-key-of-ann-1234567";
const gateway = await startGateway({
  target: process.env["WEIR_TARGET"] === "binary" ? "binary" : "process",
  config: { keys: [{ name: "ann", key }] },
  env: { WEIR_STATE: "none" },
});
const env = {
  ...process.env,
  ...{ NO_PROXY: "127.0.0.1", OPENAI_AGENTS_DISABLE_TRACING: "1" },
  // The two lines that a stranger's script changes.
  ...{ OPENAI_BASE_URL: `${gateway.url}/v1`, OPENAI_API_KEY: key },
};
const clients = [
  [python, join(import.meta.dir, "conversations_client.py")],
  ["node", join(import.meta.dir, "conversations_client.mjs"), packages],
];
let code = 0;
for (const client of clients) {
  console.log(client[1]!.endsWith("py") ? "openai-agents (Python)" : "@openai/agents (Node.js)");
  code += await Bun.spawn(client, { env, stdout: "inherit", stderr: "inherit" }).exited;
}
await gateway.stop();
process.exit(code > 0 ? 1 : 0);
