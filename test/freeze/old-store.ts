/**
 * Makes the store of a release, which later versions have to open: `bun test/freeze/old-store.ts` in a checkout of that release
 * writes frozen/store.json.gz, the files of its state folder in base64.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "bun";
import { runCommand } from "../helpers/command.ts";
import { startGateway } from "../helpers/gateway.ts";
import { askFor, STREAM_CLIENTS } from "../helpers/stream-clients.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, sse, startUpstream } from "../helpers/upstream.ts";
import { CHAT } from "./calls.ts";

/** The files of a state folder that a gateway has left: keys of the store, a hard budget, calls of each kind, a stored answer. */
async function makeStore(): Promise<Record<string, string>> {
  const state = mkdtempSync(join(tmpdir(), "weir-old-store-"));
  const upstream = startUpstream(({ body }) =>
    new TextDecoder().decode(body).includes('"limited"')
      ? json({ error: { message: "Slow down.", type: "rate_limit" } }, 429)
      : sse(CHAT),
  );
  const serve = () =>
    startGateway({
      target: "source",
      config: {
        state,
        retries: { attempts: 1 },
        ledger: { callDays: 36_500, hourDays: 36_500, sessionDays: 36_500 },
        keys: [{ name: "alice", key: "key-of-the-old-store", path: "/team/a" }],
        prices: { "*/*": { input: 1, output: 2, cacheRead: 0.1 } },
        providers: {
          chat: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["whole", "limited"] },
        },
      },
    });
  // The first start makes the store, in which a command then creates a key.
  await (await serve()).stop();
  const options = [
    "--path",
    "/team/b",
    "--budget",
    "100",
    "--hard",
    "--tag",
    "night",
    "--json",
    "--state",
    state,
  ];
  const { code, out, err } = await runCommand(["keys", "create", "bob", ...options], { cwd: state });
  if (code !== 0) throw new Error(err);
  const { secret } = JSON.parse(out) as { secret: string };
  const gateway = await serve();
  for (const caller of ["key-of-the-old-store", secret])
    for (const model of ["chat/whole", "chat/limited", "chat/unknown"])
      for (const client of STREAM_CLIENTS) {
        const headers = { authorization: `Bearer ${caller}` };
        await readStreamed(await askFor(gateway.url, client, model, "Say hello.", headers), true);
      }
  await gateway.stop();
  upstream.stop();
  const names = readdirSync(state).filter((name) => /^(weir\.(db|mark)|responses\.db)$/.test(name));
  const files = names.map((name) => [name, readFileSync(join(state, name)).toBase64()] as const);
  rmSync(state, { recursive: true, force: true });
  return Object.fromEntries(files);
}

if (import.meta.main) {
  const files = await makeStore();
  const packed = gzipSync(Buffer.from(JSON.stringify(files)), { level: 9 });
  writeFileSync(join(import.meta.dir, "frozen/store.json.gz"), packed);
  console.log(Object.keys(files).join(", "), packed.length, "bytes");
}
