/** Starts weir between fake hosts and clients that were installed into a folder: `bun test/clients/kinds/run.ts FOLDER`. */
import { join, resolve } from "node:path";
import { startGateway } from "../../helpers/gateway.ts";
import * as hosts from "../../helpers/rerank-hosts.ts";
import { startUpstream } from "../../helpers/upstream.ts";
import { scoreTexts } from "./scores.ts";

const folder = resolve(process.argv[2] ?? "/tmp/weir-kinds");
const RERANK = {
  cohere: ["cohere-rerank", hosts.cohere],
  jina: ["jina-rerank", hosts.jina],
  voyage: ["voyage-rerank", hosts.voyage],
  tei: ["tei-rerank", hosts.tei],
  vllm: ["score", hosts.vllmScore],
} as const;
const rankers = Object.entries(RERANK).map(([name, [dialect, handler]]) => {
  const upstream = startUpstream(handler);
  const does = { rerank: { [dialect]: "/rank" } };
  return { name: `x${name}`, upstream, host: { baseUrl: upstream.url, models: ["m"], does } };
});
const scorer = startUpstream(scoreTexts);
const completing = (dialect: string) => ({
  ...{ baseUrl: scorer.url, models: ["m"] },
  does: { completion: { [dialect]: `/${dialect}` } },
});
const gateway = await startGateway({
  config: {
    ...{ state: "none", admin: "off" },
    aliases: { rerank: "xtei/m" },
    keys: [{ name: "client", key: "weir-client-key-1234567890" }],
    providers: {
      ...Object.fromEntries(rankers.map(({ name, host }) => [name, host])),
      lm: completing("completions"),
      middle: completing("fim"),
    },
  },
});

const env = {
  ...{ PATH: process.env["PATH"] ?? "", HOME: folder, PYTHONUNBUFFERED: "1", NO_PROXY: "127.0.0.1" },
  // A client that looks for updates, or reports what it did, reaches nobody.
  ...{ HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9", HF_HUB_OFFLINE: "1" },
  ...{ HF_DATASETS_OFFLINE: "1", HF_HOME: join(folder, "hf"), LITELLM_LOCAL_MODEL_COST_MAP: "True" },
  ...{ WEIR_URL: gateway.url, WEIR_KEY: "weir-client-key-1234567890", HOST_URL: scorer.url, FOLDER: folder },
};
const script = (name: string) => join(import.meta.dir, name);
const python = (name: string) => join(folder, name, "bin/python");
const RUNS: Readonly<Record<string, string[]>> = {
  sdks: [python("py"), script("sdks.py")],
  frameworks: [python("lc"), script("frameworks.py")],
  evaluator: [python("ev"), script("evaluator.py")],
  editor: ["node", script("editor.mjs")],
  webui: [python("py"), script("webui.py")],
};
let failed = 0;
for (const [name, command] of Object.entries(RUNS)) {
  if (process.argv[3] !== undefined && process.argv[3] !== name) continue;
  const child = Bun.spawn(command, {
    env,
    cwd: folder,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  failed += Number((await child.exited) !== 0);
}
await gateway.stop();
for (const { upstream } of rankers) upstream.stop();
scorer.stop();
process.exit(failed > 0 ? 1 : 0);
