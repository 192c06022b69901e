/** A gateway that can write to no disk: only /dev/shm is writable, as in a container with a read-only root. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { ROOT } from "../helpers/documents.ts";
import { TARGET } from "../helpers/gateway.ts";
import { ask, freePort, until } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const USER = "65532";

/** Programs of util-linux that make the namespace. */
const canIsolate =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  Bun.which("unshare") !== null &&
  Bun.which("setpriv") !== null &&
  Bun.spawnSync(["unshare", "-m", "sh", "-c", "mount --make-rprivate / && mount -o remount,ro,bind /"])
    .exitCode === 0;

test("with a read-only root weir keeps its books in memory, says so, and counts calls over two workers", async () => {
  if (!canIsolate) return console.log("No mount namespace can be made here: a read-only root was not tried.");
  const port = freePort();
  const program =
    TARGET === "binary" ? [join(ROOT, "dist/weir")] : [process.execPath, join(ROOT, "src/main.ts")];
  const command = [...program, "serve", "--port", String(port), "--workers", "2"];
  const isolate = `mount --make-rprivate / && mount -o remount,ro,bind / && cd / && exec setpriv --reuid ${USER} --regid ${USER} --clear-groups "$@"`;
  const child = Bun.spawn(["unshare", "-m", "sh", "-c", isolate, "sh", ...command], {
    env: environmentIn("/nonexistent"),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const ended = (async () => {
    for await (const bytes of child.stderr) said += new TextDecoder().decode(bytes);
  })();
  const logged = new Response(child.stdout).text();
  const url = `http://127.0.0.1:${port}`;
  try {
    const serves = async () => (await ask(url, "mock/echo").catch(() => ({ status: 0 }))).status === 200;
    expect(await until(serves, 20_000)).toBe(true);
    expect(await until(() => said.includes("with 2 workers"), 20_000)).toBe(true);
    const health = (await (await fetch(`${url}/health`)).json()) as { degraded?: string[] };
    expect(health.degraded ?? []).toEqual([]);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
  await ended;
  expect(said).toMatch(/books: .*memory/);
  expect(await logged).not.toContain('"level":"error"');
});
