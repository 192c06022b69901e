/** Starts weir with its mock over TLS, and runs the client for Node.js on it. */
import { join } from "node:path";
import { FIRST } from "../helpers/certificates.ts";
import { startGateway } from "../helpers/gateway.ts";

const KEY = "weir_sk_agents0123456789abcdefghijklmnopqrstuv";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: test/clients/realtime.sh");
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
await Bun.write(files.cert, FIRST.cert);
await Bun.write(files.key, FIRST.key);
const gateway = await startGateway({ config: { tls: files, keys: [{ name: "agents", key: KEY }] } });
const client = Bun.spawn(["node", "client.mjs", gateway.url.replace("http:", "https:"), KEY], {
  cwd: folder,
  env: { PATH: process.env["PATH"] ?? "", HOME: folder, NODE_EXTRA_CA_CERTS: files.cert },
  stdout: "inherit",
  stderr: "inherit",
});
const code = await client.exited;
const leaked = gateway.log.some((line) => line.includes(KEY));
console.log(leaked ? "FAILS  the log has the key" : "holds  the log of weir has no key");
await gateway.stop();
process.exit(leaked ? 1 : code);
