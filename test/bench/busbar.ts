/**
 * Busbar, a gateway in Rust, with keys, three budgets and two limits, as the peer of the hot path. Its binary is not part of this
 * repository: without it, its rows are skipped.
 */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Front } from "./fronts.ts";
import { freePort, type Rig, ROOT } from "./rig.ts";

/** Where the binary is, beside the repository or where `BUSBAR` says. */
const PLACES = [process.env["BUSBAR"] ?? "", join(ROOT, "../shared/peers/busbar/busbar")];

const ADMIN_TOKEN = "admin-token-0123456789abcdef0123456789";
const BUDGET = 1_000_000_000;

/** Prefix of the models that Busbar sends to the messages upstream. */
export const MESSAGES_PREFIX = "messages-";

/** @returns undefined where there is no binary */
export function findBusbar(): string | undefined {
  return PLACES.find((path) => path !== "" && existsSync(path));
}

/**
 * Starts it with one key below three groups, each of which has a budget. Its store is in memory.
 * @param models names of the upstream's models
 * @throws Error if it makes no key
 */
export async function startBusbar(
  rig: Rig,
  binary: string,
  upstream: number,
  models: readonly string[],
): Promise<Front> {
  const [port, admin] = [await freePort(), await freePort()];
  const signing = Bun.spawnSync([binary, "--generate-signing-key"]).stdout.toString();
  const file = await rig.write("signing.key", signing);
  chmodSync(file, 0o600);
  const env = {
    BUSBAR_CONFIG: await rig.write(
      "busbar.yaml",
      JSON.stringify(settings(port, admin, upstream, file, models)),
    ),
    BUSBAR_PROVIDERS: await rig.write("busbar-providers.yaml", JSON.stringify(PROVIDERS)),
    UPSTREAM_KEY: "upstream-key",
    BUSBAR_ADMIN_TOKEN: ADMIN_TOKEN,
    RUST_LOG: "error",
  };
  const program = rig.start(0, [binary], env);
  return { name: "Busbar, keys", port, program, prefix: "", key: await makeKey(admin) };
}

const PROVIDERS = {
  openai: { protocol: "openai", base_url: "https://api.openai.com", error_map: {} },
  anthropic: { protocol: "anthropic", base_url: "https://api.anthropic.com", error_map: {} },
};

function settings(port: number, admin: number, upstream: number, signing: string, models: readonly string[]) {
  const provider = { api_key: { env: "UPSTREAM_KEY" }, base_url: `http://127.0.0.1:${upstream}` };
  const price = { input_utok: 1, output_utok: 2 };
  const names = models.flatMap((model) => [model, MESSAGES_PREFIX + model]);
  return {
    listen: `127.0.0.1:${port}`,
    admin_listen: `127.0.0.1:${admin}`,
    providers: { openai: provider, anthropic: provider },
    models: Object.fromEntries(
      models.flatMap((model) => [
        [model, { provider: "openai" }],
        [MESSAGES_PREFIX + model, { provider: "anthropic", upstream_model: model }],
      ]),
    ),
    advanced: { worker_threads: 1 },
    "identity-providers": {
      "admin-tokens": { module: "admin-tokens", token: { env: "BUSBAR_ADMIN_TOKEN" } },
    },
    auth: { chain: ["keys"], admin_auth: ["admin-tokens"], signing_key: { file: signing } },
    groups: {
      all: { limits: [{ budget: BUDGET, per: "month" }] },
      eng: { parent: "all", limits: [{ budget: BUDGET, per: "day" }] },
      search: {
        parent: "eng",
        limits: [
          { budget: BUDGET, per: "month" },
          { requests: BUDGET, per: "minute" },
          { tokens: 1_000 * BUDGET, per: "minute" },
        ],
      },
    },
    rate_card: Object.fromEntries(names.map((name) => [name, price])),
  };
}

async function makeKey(admin: number): Promise<string> {
  const url = `http://127.0.0.1:${admin}/api/v1/admin/keys`;
  for (let tries = 0; ; tries++) {
    await Bun.sleep(50);
    const answer = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "bench", group: "search" }),
    }).catch(() => undefined);
    if (!answer && tries < 100) continue;
    const text = (await answer?.text()) ?? "no answer";
    const made = answer?.ok ? keyIn(JSON.parse(text)) : undefined;
    if (made === undefined) throw new Error(`Busbar made no key: ${text.slice(0, 300)}`);
    return made;
  }
}

/** The longest text of an answer that holds the new key once. */
function keyIn(answer: unknown): string | undefined {
  const texts = Object.values(answer as Record<string, unknown>).filter((value) => typeof value === "string");
  return texts.sort((a, b) => b.length - a.length)[0];
}
