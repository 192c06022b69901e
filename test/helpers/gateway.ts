/**
 * A running gateway for a test: started from source in this process, from source in a process of its own, or as the
 * compiled binary. The wire tests are the same for all three; `WEIR_TARGET` says which (`source`, `process`, `binary`).
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "./environment.ts";
import { FEATURES, HEADERS, newReferences, OWN_PLUGINS } from "./features.ts";
import { readConfig } from "../../src/config/load.ts";
import type { Format } from "../../src/core/format.ts";
import { additionsOf, columnsOf, type Feature, keyOptionsOf, workersOf } from "../../src/feature/feature.ts";
import type { NamedPart, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { startWeir } from "../../src/run/weir.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
const BINARY = process.env["WEIR_BINARY"] ?? join(REPOSITORY, "dist/weir");

/** Longest time until a process says where it listens. A start takes a second of a free machine, and many of a busy one. */
const START_MS = 120_000;

export type GatewayTarget = "source" | "process" | "binary";

/** What this run of the tests is about. */
export const TARGET: GatewayTarget = readTarget(process.env["WEIR_TARGET"]);

export interface GatewayOptions {
  /** Content of `weir.yaml`. */
  config?: Record<string, unknown>;
  /** The whole environment, as far as the gateway sees it. */
  env?: Record<string, string>;
  /** Dropped plugins: file name → text. */
  plugins?: Record<string, string>;
  target?: GatewayTarget;
  /** Parts beside those of the features; only of a gateway in this process. */
  workers?: readonly NamedPart<WorkerHost, WorkerPart>[];
  /** Features beside those of the build; only of a gateway in this process. */
  features?: readonly Feature[];
}

export interface RunningGateway {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  url: string;
  port: number;
  /** Every line it has written so far. */
  log: string[];
  /** Its working directory, with `weir.yaml` and `plugins/`. */
  folder: string;
  target: GatewayTarget;
  /** The formats it serves, by id; only of a gateway in this process. */
  formats: ReadonlyMap<string, Format>;
  /** Waits until the keeper has opened the books. A process says where it listens after that. */
  opened(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a gateway on a free port of 127.0.0.1 in a folder of its own. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  // Features and parts that a test made are values of this process.
  const target = options.target ?? (options.features || options.workers ? "source" : TARGET);
  const folder = await makeFolder(options);
  const started =
    target === "source" ? await startHere(folder, options) : await startProcess(folder, options, target);
  return {
    ...started,
    port: Number(new URL(started.url).port),
    folder,
    target,
    async stop() {
      await started.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A config that sends the built-in providers to fake upstreams. */
export function upstreamConfig(urls: { openai?: string; anthropic?: string }): {
  providers: Record<string, unknown>;
} {
  const providers: Record<string, unknown> = {};
  if (urls.openai) providers["openai"] = { baseUrl: `${urls.openai}/v1`, apiKey: UPSTREAM_KEYS.openai };
  if (urls.anthropic) providers["anthropic"] = { baseUrl: urls.anthropic, apiKey: UPSTREAM_KEYS.anthropic };
  return { providers };
}

/** A config with one host that speaks chat-completions only; its models are `host/NAME`. */
export function chatHost(url: string): { providers: Record<string, unknown> } {
  return {
    providers: { host: { baseUrl: `${url}/v1`, speaks: "chat-completions", models: ["some-model"] } },
  };
}

/** Credentials of the fake upstreams: if one is ever seen by a client or in a log, a test fails. */
export const UPSTREAM_KEYS = {
  openai: "sk-canary-7f3a91c0d2openai",
  anthropic: "sk-ant-canary-5be2077f41anthropic",
};

/** A new folder with the config and the plugins. */
export async function makeFolder(options: GatewayOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "weir-test-"));
  await Bun.write(join(folder, "weir.yaml"), JSON.stringify(options.config ?? {}));
  await mkdir(join(folder, "plugins"));
  for (const [name, text] of Object.entries(options.plugins ?? {})) {
    await Bun.write(join(folder, "plugins", name), text);
  }
  return folder;
}

interface Started {
  url: string;
  log: string[];
  formats: ReadonlyMap<string, Format>;
  opened(): Promise<unknown>;
  stop(): Promise<void>;
}

async function startHere(folder: string, options: GatewayOptions): Promise<Started> {
  const log: string[] = [];
  const env = options.env ?? {};
  const features = [...FEATURES, ...(options.features ?? [])];
  const sections = additionsOf(features);
  const references = newReferences();
  const read = () => readConfig({ flags: { "--port": "0" }, env, cwd: folder, sections, references });
  const { config } = await read();
  const write = (text: string) => void log.push(...text.split("\n").filter((line) => line !== ""));
  const own = {
    columns: columnsOf(features),
    keyOptions: keyOptionsOf(features),
    headers: HEADERS,
    references,
    ownPlugins: OWN_PLUGINS,
    workers: [...workersOf(features), ...(options.workers ?? [])],
  };
  const weir = await startWeir({ config, env, write, ...own });
  references.onChange(async () => weir.reload({ ...(await read()), env }));
  const { formats } = weir.parts.registry;
  return { url: weir.url, log, formats, opened: () => weir.books(), stop: () => weir.stop() };
}

async function startProcess(
  folder: string,
  options: GatewayOptions,
  target: GatewayTarget,
): Promise<Started> {
  if (target === "binary" && !existsSync(BINARY))
    throw new Error(`There is no ${BINARY}; build it with \`bun run build\`.`);
  const program = target === "binary" ? [BINARY] : [process.execPath, join(REPOSITORY, "src/main.ts")];
  const child = Bun.spawn([...program, "serve", "--port", "0"], {
    cwd: folder,
    env: environmentIn(folder, { WEIR_WORKERS: "1", ...options.env }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const log: string[] = [];
  const { promise: address, resolve: found, reject } = Promise.withResolvers<string>();
  const listen = (line: string) => {
    log.push(line);
    // A feature may have said something of another address before.
    const match = /listening on (https?:\/\/127\.0\.0\.1:\d+)/.exec(line);
    if (match) found(match[1]!);
  };
  const drained = Promise.all([readLines(child.stdout, listen), readLines(child.stderr, listen)]);
  const failed = () => reject(new Error(`The gateway did not start:\n${log.join("\n")}`));
  void child.exited.then(() => drained).then(failed);
  const timer = setTimeout(failed, START_MS);
  const url = await address.finally(() => clearTimeout(timer));
  await untilHealthy(url);
  return {
    url,
    log,
    formats: new Map(),
    opened: async () => {},
    async stop() {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), 3_000);
      await child.exited;
      clearTimeout(killer);
      await drained;
    },
  };
}

async function untilHealthy(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const healthy = await fetch(`${url}/health`, {
      headers: { connection: "close" },
      tls: { rejectUnauthorized: false },
    }).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return;
    await Bun.sleep(10);
  }
  throw new Error(`The gateway at ${url} does not answer /health.`);
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
  if (rest !== "") take(rest);
}

function readTarget(word: string | undefined): GatewayTarget {
  if (word === undefined || word === "" || word === "source") return "source";
  if (word === "process" || word === "binary") return word;
  throw new Error(`WEIR_TARGET is "${word}"; it can be source, process or binary.`);
}
