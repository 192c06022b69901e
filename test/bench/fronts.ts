/** What stands between load and upstream: nothing, nginx, a bare pass-through, weir, other gateways. */
import { join } from "node:path";
import { countsOf, freePort, KEY, ready, type Program, type Rig } from "./rig.ts";

export interface Front {
  name: string;
  port: number;
  /** Absent: nothing stands in between. */
  program?: Program;
  /** How models are called there. */
  prefix: string;
  /** The path of chat completions; default `/v1/chat/completions`. */
  path?: string;
  /** Its key; default that of the bench. */
  key?: string;
}

/** The cap of 256 requests at once is lifted for the pass-through too. */
const UNCAPPED = { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" };

export function direct(upstream: number): Front {
  return { name: "direct", port: upstream, prefix: "" };
}

export async function startPassthrough(rig: Rig, upstream: number): Promise<Front> {
  const port = await freePort();
  const command = [
    process.execPath,
    join(import.meta.dir, "passthrough.ts"),
    String(port),
    `http://127.0.0.1:${upstream}`,
  ];
  const program = rig.start(0, command, UNCAPPED);
  await ready(port);
  return { name: "pass-through", port, program, prefix: "" };
}

/** @returns undefined when there is no nginx */
export async function startNginx(rig: Rig, upstream: number): Promise<Front | undefined> {
  const nginx = findNginx();
  if (!nginx) return undefined;
  const port = await freePort();
  const file = await rig.write("nginx.conf", nginxSettings(rig.folder, port, upstream));
  const program = rig.start(0, [nginx, "-p", rig.folder, "-c", file]);
  await ready(port);
  return { name: "nginx", port, program, prefix: "" };
}

/** From Debian's packages where this may install them. */
function findNginx(): string | undefined {
  const find = () => Bun.which("nginx", { PATH: `${process.env["PATH"]}:/usr/sbin` }) ?? undefined;
  const found = find();
  if (found || process.getuid?.() !== 0 || !Bun.which("apt-get")) return found;
  console.error("installing nginx from Debian's packages …");
  Bun.spawnSync(["apt-get", "update"]);
  Bun.spawnSync(["apt-get", "install", "-y", "--no-install-recommends", "nginx-light"]);
  return find();
}

function nginxSettings(folder: string, port: number, upstream: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log crit;
events { worker_connections 16384; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  client_max_body_size 64m; client_body_buffer_size 1m; keepalive_requests 1000000000;
  upstream model { server 127.0.0.1:${upstream}; keepalive 1024; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=8192;
    location / { proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 600s; }
  }
}`;
}

/**
 * Another gateway that already runs: `NAME=URL`. The URL is of this machine; its path is that of chat completions if it is not
 * `/`, and its fragment precedes the model names: `bifrost=http://127.0.0.1:8080#openai/`.
 */
export function readPeer(text: string): Front {
  const [, name, address] = /^([^=]+)=(http:\/\/.+)$/.exec(text) ?? [];
  if (name === undefined || address === undefined || !URL.canParse(address))
    throw new Error(`--peer must be NAME=URL with an http URL, but is "${text}".`);
  const { hostname, port, pathname, hash } = new URL(address);
  if (hostname !== "127.0.0.1" && hostname !== "localhost")
    throw new Error(`--peer ${name}: the load runs against this machine only, not against ${hostname}.`);
  return {
    name,
    port: Number(port) || 80,
    prefix: decodeURIComponent(hash.slice(1)),
    ...(pathname !== "/" && { path: pathname }),
  };
}

/** @throws Error when a peer does not pass a call on to the upstream */
export async function assertPasses(front: Front, upstream: number): Promise<void> {
  const before = await countsOf(upstream);
  const answer = await fetch(`http://127.0.0.1:${front.port}${front.path ?? "/v1/chat/completions"}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: `${front.prefix}bench`, messages: [{ role: "user", content: "Hello" }] }),
  });
  const text = await answer.text();
  const { calls } = await countsOf(upstream);
  if (!answer.ok || calls === before.calls)
    throw new Error(
      `${front.name} did not pass a call on to the upstream at port ${upstream}: ${answer.status} ${text.slice(0, 200)}`,
    );
}

export interface WeirFront extends Front {
  program: Program;
  /** From exec to the first answer, in milliseconds. */
  startMs: number;
}

/** A binary of weir: the one that was built, or the one before it. */
export interface Weir {
  name: "weir" | "weir before";
  binary: string;
}

/** The compiled binary as a user runs it: keys, validation, usage, a log line a call. */
export async function startWeir(
  rig: Rig,
  upstream: number,
  { name, binary }: Weir,
  workers = 1,
  settings: Readonly<Record<string, string | undefined>> = {},
): Promise<WeirFront> {
  const port = await freePort();
  const set: Record<string, string | undefined> = {
    WEIR_API_KEYS: `bench:${KEY}`,
    WEIR_LOG: "json",
    OPENAI_API_KEY: "upstream-key",
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream}/v1`,
    ANTHROPIC_API_KEY: "upstream-key",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${upstream}`,
    GEMINI_API_KEY: "upstream-key",
    GEMINI_BASE_URL: `http://127.0.0.1:${upstream}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "AKIABENCH",
    AWS_SECRET_ACCESS_KEY: "upstream-key",
    BEDROCK_BASE_URL: `http://127.0.0.1:${upstream}`,
    WEIR_WORKERS: String(workers),
    ...settings,
  };
  const env = Object.fromEntries(
    Object.entries(set).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const program = rig.start(workers > 1 ? "any" : 0, [binary, "serve", "--port", String(port)], env);
  const startMs = await ready(port, 1);
  return { name, port, program, prefix: "openai/", startMs };
}
