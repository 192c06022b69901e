/**
 * A lock for the state folder, and one for each address and port, held for the life of the process. Workers share a port with SO_REUSEPORT, so the system
 * would let a second gateway share it too, and each would get part of the other's calls.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { listenFault } from "../server/listen.ts";
import type { StateHome } from "../run/home.ts";
import { beginningOf, runFolder } from "../run/run-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The process that holds a lock; `pid` is absent when it does not answer. */
export interface Holder {
  pid?: number;
}

/** Maximum time for the holder to answer with its process id. Milliseconds. */
const ANSWER_MS = 1_000;
/** Maximum number of ports that are tried to find a free one. */
const TRIES = 20;
/** A gateway that follows another one on its port waits this long for the lock, and tries it so often. Milliseconds. */
const FOLLOW_MS = 5_000;
const TRY_MS = 10;

/** Give up the locks of addresses that this process holds. */
const unlocks = new Set<() => void>();

/**
 * Locks a port and checks that no other process listens on it.
 * @param port 0 chooses a free one @throws Error with one sentence when the port is locked, in use or not permitted
 */
export async function lockPort(host: string, port: number, env: Environment): Promise<{ port: number }> {
  if (port !== 0) {
    await lockOnly(host, port, env);
    return { port: probe(host, port) };
  }
  for (let tries = 0; tries < TRIES; tries++) {
    const found = probe(host, 0);
    if ((await lock(nameOf(host, found), env)) === undefined) return { port: found };
  }
  throw new Error(`no free port on ${host} was found; choose one with --port`);
}

/** Locks a port without checking for other listeners. @throws Error with one sentence that names the other process */
export async function lockOnly(host: string, port: number, env: Environment): Promise<void> {
  const holder = await lock(nameOf(host, port), env);
  if (holder)
    throw new Error(
      `port ${port} on ${host} is in use by ${describe(holder)}; stop that process or choose another port with --port`,
    );
}

/** Locks the path of a unix socket. @throws Error with one sentence that names the other process */
export async function lockPath(path: string, env: Environment): Promise<void> {
  // Lock names have a maximum length, so a path is hashed.
  const digest = new Bun.CryptoHasher("sha256").update(path).digest("hex").slice(0, 32);
  const holder = await lock(`unix:${digest}`, env);
  if (holder)
    throw new Error(
      `the socket ${path} is in use by ${describe(holder)}; stop that process or choose another path`,
    );
}

/**
 * Locks the state folder, if there is one.
 * @returns where weir keeps its databases: in memory where another process has locked the default folder
 * @throws Error with one sentence that names the other process, for a named folder
 */
export function lockState(home: StateHome): StateHome {
  if (home.kind !== "folder") return home;
  const holder = lockFile(stateLock(home.folder));
  if (!holder) return home;
  const fault = `${home.folder} is in use by ${describe(holder)}`;
  if (home.named)
    throw new Error(`the state folder ${fault}; stop that process or name another folder with --state`);
  return { kind: "memory", why: fault };
}

/** Gives up the locks of addresses, for a gateway that follows this one there. */
export function unlockAddresses(): void {
  for (const unlock of unlocks) unlock();
  unlocks.clear();
}

/** Locks the port of a gateway that gives its lock up now. @throws Error with one sentence that names another process */
export async function lockAfter(host: string, port: number, env: Environment): Promise<void> {
  for (const until = performance.now() + FOLLOW_MS; performance.now() < until; await Bun.sleep(TRY_MS))
    if ((await lock(nameOf(host, port), env)) === undefined) return;
  await lockOnly(host, port, env);
}

/** Takes the lock of the state folder from the gateway that this one follows. */
export function takeState(home: StateHome): void {
  if (home.kind !== "folder") return;
  const path = stateLock(home.folder);
  const own = writeOwn(path);
  renameSync(own, path);
  removeAtExit(path);
}

function stateLock(folder: string): string {
  return join(folder, "weir.lock");
}

function describe({ pid }: Holder): string {
  return pid === undefined ? "another weir process" : `another weir process (pid ${pid})`;
}

function nameOf(host: string, port: number): string {
  return `${host === "localhost" ? "127.0.0.1" : host.toLowerCase()}:${port}`;
}

/** @returns the holder of the lock; undefined when this process holds it now, or where no lock can be made */
async function lock(name: string, env: Environment): Promise<Holder | undefined> {
  if (process.platform === "linux") return lockSocket(`\0weir:${name}`);
  const folder = runFolder(env);
  if (folder === undefined) return undefined;
  const path = join(folder, `${name.replace(/[^\w.]/g, "_")}.lock`);
  const holder = lockFile(path);
  if (!holder) unlocks.add(() => removeOwn(path));
  return holder;
}

/** An abstract unix socket as lock: the system removes it when its process ends. The holder answers with its process id. */
export function lockSocket(path: string): Promise<Holder | undefined> {
  const { promise, resolve } = Promise.withResolvers<Holder | undefined>();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(String(process.pid));
  });
  server.on("error", ({ code }: NodeJS.ErrnoException) =>
    resolve(code === "EADDRINUSE" ? askHolder(path) : undefined),
  );
  server.listen(path, () => {
    unlocks.add(() => server.close());
    resolve(undefined);
  });
  server.unref();
  return promise;
}

function askHolder(path: string): Promise<Holder> {
  const { promise, resolve } = Promise.withResolvers<Holder>();
  const socket = connect(path);
  let said = "";
  const done = () => {
    clearTimeout(timer);
    socket.destroy();
    resolve(/^\d+$/.test(said) ? { pid: Number(said) } : {});
  };
  const timer = setTimeout(done, ANSWER_MS);
  socket.on("data", (bytes) => (said += String(bytes)));
  socket.on("close", done);
  socket.on("error", done);
  return promise;
}

/** A lock file with the process id, for systems without abstract sockets. A file whose process has ended is replaced. */
export function lockFile(path: string): Holder | undefined {
  const own = writeOwn(path);
  try {
    // A link is atomic: the file appears with its content or not at all.
    for (let tries = 0; tries < 3; tries++) {
      try {
        linkSync(own, path);
        removeAtExit(path);
        return undefined;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "EEXIST") return undefined;
      }
      const holder = readHolder(path);
      if (holder) return holder;
      rmSync(path, { force: true });
    }
    return {};
  } finally {
    rmSync(own, { force: true });
  }
}

/** @returns the path of a file beside it, with this process as holder */
function writeOwn(path: string): string {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, began: beginningOf(process.pid) }), { mode: 0o600 });
  return own;
}

function removeAtExit(path: string): void {
  process.on("exit", () => removeOwn(path));
}

/** A gateway that follows this one may have taken the lock. */
function removeOwn(path: string): void {
  if (readHolder(path)?.pid === process.pid) rmSync(path, { force: true });
}

function readHolder(path: string): Holder | undefined {
  try {
    const { pid, began } = JSON.parse(readFileSync(path, "utf8")) as { pid: number; began: string };
    return beginningOf(pid) === began ? { pid } : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the port @throws Error with one sentence when it is in use or not permitted */
function probe(host: string, port: number): number {
  try {
    const listener = Bun.listen({ hostname: host, port, socket: { data() {} } });
    const found = listener.port;
    listener.stop(true);
    return found;
  } catch (error) {
    throw new Error(listenFault(error, { host, port }), { cause: error });
  }
}
