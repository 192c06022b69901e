/** Starts weir with its mock and runs ollama_client.py against it: `bun test/clients/ollama.ts PYTHON`. */
import { join } from "node:path";
import { startGateway } from "../helpers/gateway.ts";

const [python = "python3"] = process.argv.slice(2);
const gateway = await startGateway({ config: { timeouts: { heartbeatMs: 100 } } });
const env = { ...process.env, OLLAMA_HOST: gateway.url, NO_PROXY: "127.0.0.1" };
const child = Bun.spawn([python, join(import.meta.dir, "ollama_client.py")], {
  env,
  stdout: "inherit",
  stderr: "inherit",
});
const code = await child.exited;
await gateway.stop();
process.exit(code);
