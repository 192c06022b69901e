/** pgbouncer between weir and PostgreSQL: it is refused with a sentence, whether it rejects the settings of weir or drops them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgres } from "../../src/keeper/store/postgres/store.ts";
import { missingPostgres, startPostgres, type TestPostgres } from "../helpers/postgres.ts";
import { freePort, until } from "../helpers/serving.ts";

setDefaultTimeout(60_000);

const PGBOUNCER = "/usr/sbin/pgbouncer";
const missing =
  missingPostgres ??
  (existsSync(PGBOUNCER) ? undefined : "pgbouncer is not installed (Debian has a package)");

let server: TestPostgres;
const folder = mkdtempSync(join(tmpdir(), "weir-pooler-"));
const poolers: Bun.Subprocess[] = [];

beforeAll(async () => {
  if (missing) return console.log(`A pooler was not tried: ${missing}.`);
  chmodSync(folder, 0o755);
  server = await startPostgres();
}, 600_000);

afterAll(async () => {
  for (const pooler of poolers) {
    pooler.kill();
    await pooler.exited;
  }
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** @returns the URL of the database through it */
async function startPooler(mode: string, dropped: string): Promise<string> {
  const port = freePort();
  const file = join(folder, `${port}.ini`);
  const settings = [
    `[databases]`,
    `weir = host=127.0.0.1 port=${server.port} user=weir`,
    `[pgbouncer]`,
    ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "auth_type = any"],
    ...[`pool_mode = ${mode}`, `ignore_startup_parameters = ${dropped}`],
  ];
  writeFileSync(file, `${settings.join("\n")}\n`);
  // It does not run as root.
  const user =
    process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  const pooler = Bun.spawn([...user, PGBOUNCER, file], { stdout: "ignore", stderr: "ignore" });
  poolers.push(pooler);
  const listens = async () => {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(
      () => undefined,
    );
    socket?.end();
    return socket !== undefined;
  };
  expect(await until(listens, 10_000)).toBe(true);
  return `postgres://weir@127.0.0.1:${port}/weir`;
}

const SETTINGS =
  "statement_timeout, idle_in_transaction_session_timeout, idle_session_timeout, search_path, extra_float_digits";

describe.skipIf(missing !== undefined)("a pooler", () => {
  test.each([
    ["transaction", "extra_float_digits", "rejects the settings"],
    ["transaction", SETTINGS, "drops the settings"],
    ["session", SETTINGS, "drops the settings"],
  ])("in %s mode that ignores %s, and so %s, is refused", async (mode, dropped) => {
    const url = await startPooler(mode, dropped);
    await expect(openPostgres(url, Date.now, { connections: 1 })).rejects.toThrow(
      "PostgreSQL cannot be used: a pooler is in between that drops the settings of connections",
    );
  });

  test("is not needed: the server itself is used as before", async () => {
    const store = await openPostgres(server.url, Date.now, { connections: 1 });
    await store.close();
  });
});
