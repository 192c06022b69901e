/** `weir serve` as a process of its own, with its signals, its children and its exit: for tests of its life. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "./environment.ts";
import { TARGET } from "./gateway.ts";
import { streamedText } from "./streamed.ts";

const ROOT = resolve(import.meta.dir, "../..");

export interface Serving {
  url: string;
  pid: number;
  folder: string;
  /** Every line of its log so far. */
  log: string[];
  exited: Promise<number>;
  signal(name: NodeJS.Signals): void;
  /** Signals the gateway and all its children, as a terminal and systemd do. */
  signalGroup(name: NodeJS.Signals): void;
  /** Writes `weir.yaml` anew. */
  configure(text: string): void;
  /** Runs another command of weir beside it. */
  run(...args: string[]): { code: number; output: string };
  /** The same, while this process goes on. */
  runBeside(...args: string[]): Promise<{ code: number; output: string }>;
  /** Process ids of all its children. */
  children(): number[];
  /** Process ids of its workers. */
  workers(): number[];
  /** Process id of its keeper; undefined while it is restarted, and with one worker. */
  keeper(): number | undefined;
  /** Ends it, however it stands. */
  end(): Promise<void>;
}

export interface ServingOptions {
  config: string;
  workers: number;
  /** Whether `dist/weir` runs. Default: what `WEIR_TARGET` says. */
  binary?: boolean;
  env?: Record<string, string>;
  /** Dropped plugins: file name → text. */
  plugins?: Record<string, string>;
  /** Descriptor that takes the log; without it the log is read into `log`. */
  stdout?: number;
  /** 0 chooses one. */
  port?: number;
  /** Command that starts the gateway as its child, in front of the gateway's own. */
  parent?: readonly string[];
  /** The executable instead of the usual one: Bun for the source, weir for the binary. */
  executable?: string;
  /** The repository, or a copy of its source. */
  root?: string;
}

/** @throws Error with what it printed when it does not start */
export async function serve({
  config,
  workers,
  binary = TARGET === "binary",
  env,
  plugins = {},
  stdout,
  port = 0,
  executable,
  parent = [],
  root = ROOT,
}: ServingOptions): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), "weir-serving-"));
  writeFileSync(join(folder, "weir.yaml"), config);
  mkdirSync(join(folder, "plugins"));
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  for (const [name, text] of Object.entries(plugins)) writeFileSync(join(folder, "plugins", name), text);
  const program = binary
    ? [executable ?? process.env["WEIR_BINARY"] ?? join(root, "dist/weir")]
    : [executable ?? process.execPath, join(root, "src/main.ts")];
  const options = {
    cwd: folder,
    env: environmentIn(folder, env),
  };
  const child = Bun.spawn(
    [...parent, ...program, "serve", "--port", String(port), "--workers", String(workers)],
    {
      ...options,
      // A process group of its own, which a test can signal.
      detached: true,
      stdin: "ignore",
      stdout: stdout ?? "pipe",
      stderr: "pipe",
    },
  );
  const log: string[] = [];
  const { promise: address, resolve: found, reject } = Promise.withResolvers<string>();
  const take = (line: string) => {
    log.push(line);
    const url = /listening on ((?:https?|unix):\S+)/.exec(line)?.[1];
    if (url) found(url);
  };
  const drained = Promise.all(
    [child.stdout, child.stderr].map((stream) => stream instanceof ReadableStream && readLines(stream, take)),
  );
  void drained
    .then(() => child.exited)
    .then((code) => reject(new Error(`It did not start (exit code ${code}):\n${log.join("\n")}`)));
  return {
    url: await address,
    pid: child.pid,
    folder,
    log,
    exited: child.exited,
    signal: (name) => child.kill(name),
    signalGroup: (name) => process.kill(-child.pid, name),
    configure: (text) => writeFileSync(join(folder, "weir.yaml"), text),
    run(...args) {
      const ran = Bun.spawnSync([...program, ...args], options);
      return { code: ran.exitCode, output: ran.stdout.toString() + ran.stderr.toString() };
    },
    async runBeside(...args) {
      const ran = Bun.spawn([...program, ...args], { ...options, stdout: "pipe", stderr: "pipe" });
      const texts = [new Response(ran.stdout).text(), new Response(ran.stderr).text()];
      return { code: await ran.exited, output: (await Promise.all(texts)).join("") };
    },
    children: () => childrenOf(child.pid),
    workers: () => childrenOf(child.pid).filter(isWorker),
    keeper: () => childrenOf(child.pid).find((pid) => !isWorker(pid)),
    async end() {
      const own = child.exitCode === null ? [child.pid, ...childrenOf(child.pid)] : [];
      const cells = new Set(own.flatMap(cellsOf));
      for (const pid of own.slice(1)) process.kill(pid, "SIGKILL");
      child.kill("SIGKILL");
      await child.exited;
      await drained;
      for (const path of cells) rmSync(path, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folders in shared memory that a process uses. A gateway that is killed leaves them for the next one of its store. */
function cellsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/maps`, "utf8").match(/\/dev\/shm\/weir-cells-\w+/g) ?? [];
  } catch {
    return [];
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
}

/** Whether a child of the supervisor is a worker, and not the keeper. */
function isWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").includes("\0WEIR_WORKER=");
  } catch {
    return false;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

export async function readLines(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
}

/** A port of 127.0.0.1 that nobody listens on. */
export function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  probe.stop(true);
  return probe.port;
}

/** Sets how many files a process may have open: with too few it cannot start another process. @throws Error */
export function limitFiles(pid: number, most: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["prlimit", "--pid", String(pid), `--nofile=${most}:`]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

/** Waits, at most `ms`, until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, ms = 5_000): Promise<boolean> {
  const began = performance.now();
  while (performance.now() - began < ms) {
    if (await holds()) return true;
    await Bun.sleep(20);
  }
  return false;
}

/**
 * A chat-completions call; the text of its body, streamed or not.
 * @param how options of the request besides, such as `{ tls: { ca } }` or `{ unix: "/run/weir.sock" }`
 */
export async function ask(
  url: string,
  model: string,
  stream = false,
  how: BunFetchRequestInit = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    ...how,
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "hello" }] }),
  });
  return { status: response.status, text: await streamedText(response) };
}
