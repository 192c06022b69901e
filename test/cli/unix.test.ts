/** Listening on a unix socket. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";

let running: Serving | undefined;
let folder: string | undefined;

afterEach(async () => {
  await running?.end();
  running = undefined;
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function makePath(): string {
  folder = mkdtempSync(join(tmpdir(), "weir-unix-"));
  return join(folder, "weir.sock");
}

async function start(config: string): Promise<Serving> {
  running = await serve({ config, workers: 0 });
  return running;
}

const call = (unix: string, stream = false) => ask("http://localhost", "mock/chat", stream, { unix });

test("weir listens on a unix socket that only its user may use, and removes it at its end", async () => {
  const path = makePath();
  const weir = await start(`listen: { unix: ${path} }\n`);
  expect(weir.url).toBe(`unix:${path}`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await call(path)).status).toBe(200);
  expect((await call(path, true)).text).toEndWith("data: [DONE]\n\n");
  expect(weir.run("reload")).toMatchObject({ code: 0 });
  expect((await call(path)).status).toBe(200);
  weir.signal("SIGTERM");
  expect(await weir.exited).toBe(0);
  expect(existsSync(path)).toBe(false);
}, 600_000);

test("a socket that a dead process has left is replaced, one of a live process is not", async () => {
  const path = makePath();
  const config = `listen: { unix: ${path}, mode: 0660 }\n`;
  const first = await start(config);
  const refused = first.run("serve");
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(`the socket ${path} is in use by another weir process (pid ${first.pid})`);
  expect((await call(path)).status).toBe(200);
  first.signal("SIGKILL");
  await first.exited;
  await first.end();
  expect(existsSync(path)).toBe(true);
  await start(config);
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect(await until(async () => (await call(path)).status === 200)).toBe(true);
}, 600_000);

test("a socket of another program, and a file that is no socket, are left alone", async () => {
  const path = makePath();
  const other = Bun.listen({ unix: path, socket: { data() {} } });
  await expect(start(`listen: { unix: ${path} }\n`)).rejects.toThrow("is in use by another process");
  other.stop(true);
  writeFileSync(path, "text");
  await expect(start(`listen: { unix: ${path} }\n`)).rejects.toThrow("already exists and is not a socket");
  expect(existsSync(path)).toBe(true);
  await expect(start(`listen: { unix: ${path}/nowhere }\n`)).rejects.toThrow("cannot create the socket");
}, 600_000);

test("several processes or TLS behind a unix socket are refused; a mode is read however it is spelled", () => {
  const path = makePath();
  const load = (yaml: string) => {
    writeFileSync(join(folder!, "weir.yaml"), yaml);
    return loadConfig({ env: {}, cwd: folder! }).config.listen;
  };
  expect(() => load("listen: { unix: weir.sock }\nworkers: 2\n")).toThrow(
    "weir.yaml:2: a unix socket requires a single process, but workers is 2; set workers to 1 (at workers).",
  );
  for (const mode of ["0660", "660", "0o660", '"0660"', '"660"'])
    expect(load(`listen: { unix: weir.sock, mode: ${mode} }\n`)).toEqual({ unix: path, mode: 0o660 });
  expect(load("listen: { unix: weir.sock }\nhost: 0.0.0.0\n")).toEqual({ unix: path, mode: 0o600 });
  expect(() => load("listen: { unix: weir.sock, mode: 0777 }\n")).toThrow(
    "weir.yaml:1: mode must be 0600, 0660 or 0666, but is 777 (at listen.mode).",
  );
});
