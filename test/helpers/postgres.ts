/**
 * A PostgreSQL server of its own for tests, from Debian's packages. Where the programs are absent and the tests run as root,
 * they are installed first. Where that is impossible, and in `bun run test`, the tests skip with {@link missingPostgres}.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./serving.ts";
import { IS_ALL } from "./effort.ts";

const isRoot = process.getuid?.() === 0;
const VERSIONS = "/usr/lib/postgresql";
/** Time for each step of an installation. Milliseconds. */
const INSTALL_MS = 300_000;

/** The whole of the tests leaves PostgreSQL to a run of its own, because two clusters need the machine for themselves. */
const isLeftOut = IS_ALL && process.env["LONG_POSTGRES"] !== "1";

/** The folder of `postgres` and `initdb`; undefined where there is none. */
export const postgresBin = isLeftOut ? undefined : (findBin() ?? (install() ? findBin() : undefined));

/** Why tests against PostgreSQL are skipped; undefined where they run. */
export const missingPostgres = isLeftOut
  ? "`bun run postgres` runs it"
  : postgresBin === undefined
    ? "PostgreSQL is not installed, and apt-get could not install it"
    : undefined;

export interface TestPostgres {
  /** `postgres://weir@127.0.0.1:PORT/weir` */
  readonly url: string;
  readonly port: number;
  /** Makes an empty database. @returns its URL */
  createDatabase(): Promise<string>;
  /** Ends the server as `pg_ctl stop -m immediate` does. */
  stop(): Promise<void>;
  /** Starts it again on the same data and port. */
  start(): Promise<void>;
  /** Stops all its processes where they are, with SIGSTOP. */
  freeze(): void;
  thaw(): void;
  /** Ends the server and deletes its data. */
  close(): Promise<void>;
}

interface Options {
  /** Addresses on which it listens; default: 127.0.0.1. */
  listen?: string;
  /** PEM texts: it takes connections with TLS, too. */
  tls?: { cert: string; key: string };
  /** Lines of pg_hba.conf before those that trust everybody. */
  access?: readonly string[];
}

/** Starts a server with a new cluster of databases. */
export async function startPostgres({
  listen = "127.0.0.1",
  tls,
  access = [],
}: Options = {}): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "weir-postgres-"));
  const data = join(folder, "data");
  chmodSync(folder, 0o755);
  if (isRoot) spawnSync("chown", ["postgres", folder]);
  const made = spawnSync(
    ...asUser(["initdb", "-D", data, "-U", "weir", "-A", "trust", "-E", "UTF8", "--no-sync"]),
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${String(made.stderr)}`);
  appendFileSync(join(data, "pg_hba.conf"), "host all all 10.0.0.0/8 trust\n");
  const hba = join(data, "pg_hba.conf");
  writeFileSync(hba, `${access.join("\n")}\n${readFileSync(hba, "utf8")}`);
  for (const [name, text] of tls ? Object.entries({ "server.crt": tls.cert, "server.key": tls.key }) : []) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    if (isRoot) spawnSync("chown", ["postgres", join(data, name)]);
  }
  const port = freePort();
  const isReady = () =>
    spawnSync(join(postgresBin!, "pg_isready"), ["-h", "127.0.0.1", "-p", `${port}`]).status === 0;
  let server = await launch();
  // A test that fails may leave it.
  process.once("exit", () => server.kill("SIGQUIT"));
  let databases = 0;

  async function launch(): Promise<ChildProcess> {
    const settings = [`port=${port}`, `listen_addresses=${listen}`, `unix_socket_directories=${folder}`];
    const flags = [...settings, "max_connections=60", `ssl=${tls ? "on" : "off"}`].flatMap((setting) => [
      "-c",
      setting,
    ]);
    const [program, args] = asUser(["postgres", "-D", data, ...flags]);
    const started = spawn(program, args, { stdio: "ignore" });
    for (let tries = 0; !isReady(); tries++) {
      if (started.exitCode !== null || tries > 300) throw new Error("PostgreSQL did not start");
      await Bun.sleep(50);
    }
    return started;
  }

  const createDatabase = async (name = `weir${++databases}`) => {
    const made = spawnSync(join(postgresBin!, "createdb"), [
      "-h",
      "127.0.0.1",
      "-p",
      `${port}`,
      "-U",
      "weir",
      name,
    ]);
    if (made.status !== 0) throw new Error(`createdb failed: ${String(made.stderr)}`);
    return `postgres://weir@127.0.0.1:${port}/${name}`;
  };
  const stop = async () => {
    const ended = exited(server);
    server.kill("SIGQUIT");
    await ended;
  };
  const thaw = () => signalAll(server, "SIGCONT");

  return {
    url: await createDatabase("weir"),
    port,
    createDatabase: () => createDatabase(),
    stop,
    start: async () => void (server = await launch()),
    freeze: () => signalAll(server, "SIGSTOP"),
    thaw,
    async close() {
      thaw();
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

/** The server process and its children; each child has a session of its own, so the group does not reach them. */
function signalAll(server: ChildProcess, signal: "SIGSTOP" | "SIGCONT"): void {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === server.pid);
  for (const pid of [server.pid!, ...children.map(Number)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** PostgreSQL refuses to run as root, so it runs as the user that Debian's package made. */
function asUser([program, ...args]: readonly [string, ...string[]]): [string, string[]] {
  const path = join(postgresBin!, program);
  return isRoot
    ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", path, ...args]]
    : [path, args];
}

function findBin(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  const folders = readdirSync(VERSIONS).map((version) => join(VERSIONS, version, "bin"));
  return folders.sort().findLast((folder) => existsSync(join(folder, "initdb")));
}

function install(): boolean {
  if (!isRoot) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // Test files that run at the same time take turns.
  const lock = join(tmpdir(), "weir-apt.lock");
  const apt = (...args: string[]) =>
    spawnSync("flock", [lock, "apt-get", ...args], { env, timeout: INSTALL_MS }).status === 0;
  return apt("update") && apt("install", "-y", "--no-install-recommends", "postgresql");
}
