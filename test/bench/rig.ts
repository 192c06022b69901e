/** The rig: builds its programs, starts them on their cores, reads what they cost, and ends every one of them. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../helpers/environment.ts";

export const ROOT = resolve(import.meta.dir, "../..");
export const BINARY = join(ROOT, "dist/weir");
const SOURCES = join(import.meta.dir, "rig");
const BUILT = join(ROOT, "dist/rig");

/** Gateways have the first core, upstream and load the second. */
export type Core = 0 | 1 | "any";

export interface Program {
  pid: number;
  /** Ends it, and waits until it is gone. */
  stop(): Promise<void>;
}

/** What one run of the load saw; times in microseconds. */
export interface Load {
  seconds: number;
  answered: number;
  failed: number;
  left: number;
  chunks: number;
  p50: number;
  p99: number;
  firstP50: number;
  firstP99: number;
  delayP50: number;
  delayP99: number;
}

export interface UpstreamCounts {
  accepted: number;
  open: number;
  /** Answers that were no streams. */
  calls: number;
  streams: number;
  streaming: number;
  peak: number;
  cut: number;
}

export class Rig {
  /** For bodies, settings and logs; gone at the end. */
  readonly folder = mkdtempSync(join(tmpdir(), "weir-bench-"));
  readonly #running = new Set<Bun.Subprocess>();
  readonly #pinned = Bun.which("taskset") !== null && navigator.hardwareConcurrency > 1;

  get pinned(): boolean {
    return this.#pinned;
  }

  /** Compiles upstream and load with the machine's C compiler. */
  build(): void {
    for (const name of ["upstream", "load"]) compile(name, name, []);
  }

  /** Starts a program; its output goes to a file of the rig's folder. */
  start(core: Core, command: string[], env: Record<string, string> = {}): Program {
    const log = Bun.file(join(this.folder, `${this.#running.size}.log`));
    const child = Bun.spawn(this.#on(core, command), {
      cwd: this.folder,
      env: environmentIn(this.folder, env),
      stdin: "ignore",
      stdout: log,
      stderr: log,
    });
    this.#running.add(child);
    return {
      pid: child.pid,
      stop: async () => {
        child.kill("SIGTERM");
        const late = setTimeout(() => child.kill("SIGKILL"), 3_000);
        await child.exited;
        clearTimeout(late);
        this.#running.delete(child);
      },
    };
  }

  #on(core: Core, command: string[]): string[] {
    return this.#pinned && core !== "any" ? ["taskset", "-c", String(core), ...command] : command;
  }

  startUpstream(port: number): Program {
    return this.start(1, [join(BUILT, "upstream"), String(port)]);
  }

  /** Writes a body and gives its file. */
  async write(name: string, text: string): Promise<string> {
    const file = join(this.folder, name);
    await Bun.write(file, text);
    return file;
  }

  /** Runs a program to its end and reads the line of JSON it prints. */
  async run<Result>(core: Core, command: string[], env: Record<string, string> = {}): Promise<Result> {
    const child = Bun.spawn(this.#on(core, command), {
      cwd: this.folder,
      env: environmentIn(this.folder, env),
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#running.add(child);
    const [text, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    this.#running.delete(child);
    if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed: ${complaint || text}`);
    return JSON.parse(text) as Result;
  }

  load(kind: "calls" | "streams", options: LoadOptions): Promise<Load> {
    const {
      port,
      connections,
      seconds,
      body,
      path = "/v1/chat/completions",
      aborted = 0,
      core = 1,
      key = KEY,
    } = options;
    const words = [kind, port, connections, seconds, body, path, key, aborted].map(String);
    return this.run<Load>(core, [join(BUILT, "load"), ...words]);
  }

  /** Ends everything that still runs. */
  stop(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    this.#running.clear();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Compiles a library for `LD_PRELOAD`. @returns its path */
export function buildPreload(name: string): string {
  return compile(name, `${name}.so`, ["-shared", "-fPIC"]);
}

/** @throws Error when there is no compiler, or the source does not compile */
function compile(name: string, made: string, flags: readonly string[]): string {
  const compiler = Bun.which("cc") ?? Bun.which("gcc") ?? Bun.which("clang");
  if (!compiler)
    throw new Error("The rig is written in C: install a compiler (apt-get install gcc libc6-dev).");
  mkdirSync(BUILT, { recursive: true });
  const source = join(SOURCES, `${name}.c`);
  const path = join(BUILT, made);
  const { exitCode, stderr } = Bun.spawnSync([
    compiler,
    ...["-O2", "-Wall", "-Wextra", ...flags],
    ...["-o", path, source, "-ldl"],
  ]);
  if (exitCode !== 0) throw new Error(`${source} does not compile:\n${stderr.toString()}`);
  return path;
}

export interface LoadOptions {
  port: number;
  connections: number;
  seconds: number;
  /** A file. */
  body: string;
  path?: string;
  /** Per cent of streams that are left at a random chunk. */
  aborted?: number;
  core?: Core;
  /** Of the gateway; default {@link KEY}. */
  key?: string;
}

/** The gateway key of the bench. */
export const KEY = "bench-key-0123456789abcdef0123456789";

export async function countsOf(port: number): Promise<UpstreamCounts> {
  return (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as UpstreamCounts;
}

/** A port nobody listens on. */
export function freePort(): Promise<number> {
  const { promise, resolve: found, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => found(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}

/** Waits until something answers; gives the milliseconds it took. */
export async function ready(port: number, everyMs = 2): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < 15_000) {
    const answers = await fetch(`http://127.0.0.1:${port}/health`).then(
      () => true,
      () => false,
    );
    if (answers) return performance.now() - began;
    await Bun.sleep(everyMs);
  }
  throw new Error(`Nothing answers on port ${port}.`);
}

/** User and system time of a process so far, of all its threads, also of those that have ended. Microseconds, in steps of 10,000. */
export async function cpuOf(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident megabytes of a process. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Descriptors a process has open. */
export function descriptorsOf(pid: number): number {
  return [...new Bun.Glob("*").scanSync({ cwd: `/proc/${pid}/fd`, onlyFiles: false })].length;
}

export function binaryMegabytes(): number {
  return statSync(BINARY).size / 1e6;
}

/** @throws Error when a binary is missing */
export function assertBinary(path: string): void {
  if (!existsSync(path)) throw new Error(`There is no ${path}: run \`bun run build\`.`);
}
