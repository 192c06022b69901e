/** What the tests of the attack surface share: the compiled binary, raw sockets, and what a process costs. */
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { DOCUMENTS } from "../helpers/documents.ts";
import { type GatewayOptions, type RunningGateway, startGateway } from "../helpers/gateway.ts";

const ROOT = resolve(import.meta.dir, "../..");
export const BINARY = join(ROOT, "dist/weir");

/** Key of the tests' one client. */
export const KEY = "a-gateway-key-for-attacks-1234";

/** Builds `dist/weir` when it is not there or older than what it is made of. */
export function buildBinary(): void {
  const newest = Math.max(
    ...[...new Glob("{src,plugins}/**").scanSync(ROOT), ...DOCUMENTS, "package.json", "bun.lock"].map(
      (file) => changedAt(join(ROOT, file)),
    ),
  );
  if (existsSync(BINARY) && changedAt(BINARY) > newest) return;
  const built = Bun.spawnSync([process.execPath, join(ROOT, "src/build/main.ts")], { cwd: ROOT });
  if (built.exitCode !== 0) throw new Error(`The binary was not built:\n${built.stderr.toString()}`);
}

function changedAt(file: string): number {
  return statSync(file).mtimeMs;
}

/** The compiled binary, running. */
export function startBinary(options: GatewayOptions = {}): Promise<RunningGateway> {
  buildBinary();
  return startGateway({ ...options, target: "binary" });
}

/** Process ids of those who listen on a TCP port of this machine. */
export function listenerOf(port: number): number {
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const tables = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const inode = tables
    .map((line) => line.trim().split(/\s+/))
    .find((row) => row[1]?.endsWith(`:${local}`) && row[3] === "0A")?.[9];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    if (holdsSocket(pid, inode)) return Number(pid);
  throw new Error(`Nobody listens on port ${port}.`);
}

/** Ports of the clients whose connections to a port of this machine are open on the listener's side. */
export function connectedTo(port: number): Set<number> {
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((row) => row[1]?.endsWith(`:${local}`) && row[3] === ESTABLISHED);
  return new Set(rows.map((row) => Number.parseInt(row[2]!.split(":")[1]!, 16)));
}

const ESTABLISHED = "01";

function holdsSocket(pid: string, inode: string | undefined): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((fd) => linkOf(`${folder}/${fd}`) === `socket:[${inode}]`);
  } catch {
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

export interface Cost {
  /** Resident memory now, bytes. */
  rss: number;
  /** Most there ever was, bytes. */
  peak: number;
  /** Processor time used so far, milliseconds. */
  cpu: number;
  fds: number;
}

export function costOf(pid: number): Cost {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) * 1024;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return {
    rss: kilobytes("VmRSS"),
    peak: kilobytes("VmHWM"),
    cpu: (Number(fields[11]) + Number(fields[12])) * 10,
    fds: readdirSync(`/proc/${pid}/fd`).length,
  };
}

export interface RawOptions {
  /** Milliseconds of silence after which what has come is taken for all. */
  quietMs?: number;
  /** End this side behind the bytes (half-close). */
  end?: boolean;
}

export interface RawAnswer {
  text: string;
  /** The status of each answer that came, in order. */
  statuses: number[];
  /** The other side ended the connection. */
  closed: boolean;
}

/** Writes bytes to a port of this machine and takes all that comes back, up to the end or to a silence. */
export function exchangeRaw(
  port: number,
  bytes: string | Uint8Array,
  options: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((settle) => {
    let text = "";
    let closed = false;
    const socket = openRaw(port, bytes, options.end);
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      settle({ text, closed, statuses: statusesOf(text) });
    };
    let timer = setTimeout(done, 2_000);
    socket.on("data", (piece) => {
      text += piece.toString("latin1");
      clearTimeout(timer);
      timer = setTimeout(done, options.quietMs ?? 150);
    });
    socket.on("close", () => {
      closed = true;
      done();
    });
  });
}

export function openRaw(port: number, bytes: string | Uint8Array, end = false): Socket {
  const socket = connect(port, "127.0.0.1", () => {
    const out = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
    if (end) socket.end(out);
    else socket.write(out);
  });
  socket.on("error", () => {});
  return socket;
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3})[ \r]/g)].map((match) => Number(match[1]));
}

/** A request of HTTP/1.1 as text. */
export function writeRequest(method: string, path: string, headers: readonly string[], body = ""): string {
  return `${[`${method} ${path} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}

/** The value at a share of sorted numbers. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
