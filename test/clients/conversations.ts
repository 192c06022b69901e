/** Starts weir with its mock and runs conversations_client.py against it: `bun test/clients/conversations.ts PYTHON`. */
import { join } from "node:path";
import { startGateway } from "../helpers/gateway.ts";

const [python = "python3"] = process.argv.slice(2);
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
const child = Bun.spawn([python, join(import.meta.dir, "conversations_client.py")], {
  env,
  stdout: "inherit",
  stderr: "inherit",
});
const code = await child.exited;
await gateway.stop();
process.exit(code);
