/** The binary where it has nothing: no rights, no writable disk, no network but its own, and hostile surroundings. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { buildBinary } from "./armour.ts";
import { goal } from "./goals.ts";

const ROOT = resolve(import.meta.dir, "../..");
const NOBODY = 65532;
const isRoot = process.getuid?.() === 0;

let folder: string;

beforeAll(() => {
  buildBinary();
  folder = mkdtempSync(join(tmpdir(), "weir-locked-"));
  chmodSync(folder, 0o755);
  copyFileSync(join(ROOT, "dist/weir"), join(folder, "weir"));
  chmodSync(join(folder, "weir"), 0o755);
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Files in the working directory that a runtime might read, each of which would do harm. */
function makeHostile(dir: string): string[] {
  const evil = `require("fs").writeFileSync(${JSON.stringify(join(dir, "owned"))}, "x");`;
  const files: Record<string, string> = {
    "evil.ts": evil,
    "bunfig.toml": `preload = ["./evil.ts"]\n[run]\nbun = true\n`,
    ".bunfig.toml": `preload = ["./evil.ts"]\n`,
    ".env": "WEIR_PORT=1\nOPENAI_API_KEY=sk-from-dotenv-0123456789\n",
    ".env.local": "WEIR_HOST=0.0.0.0\n",
    ".env.production": "WEIR_API_KEYS=changeme\n",
    ".env.development": "WEIR_API_KEYS=changeme\n",
    "tsconfig.json": `{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}`,
    "jsconfig.json": `{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}`,
    "package.json": `{"name":"weir","main":"./evil.ts","imports":{"#*":"./evil.ts"},"type":"module"}`,
    ".npmrc": "registry=http://127.0.0.1:1/\n",
    "index.ts": evil,
    "main.ts": evil,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  mkdirSync(join(dir, "node_modules/weir"), { recursive: true });
  writeFileSync(join(dir, "node_modules/weir/index.js"), evil);
  mkdirSync(join(dir, "node_modules/file-type"), { recursive: true });
  writeFileSync(join(dir, "node_modules/file-type/index.js"), evil);
  chmodSync(dir, 0o777);
  return [...Object.keys(files), "node_modules"];
}

const HOSTILE_ENVIRONMENT = (dir: string): Record<string, string> => ({
  BUN_OPTIONS: `--preload ${join(dir, "evil.ts")}`,
  BUN_BE_BUN: "0",
  BUN_INSPECT: "0.0.0.0:0",
  BUN_CONFIG_VERBOSE_FETCH: "1",
  BUN_CONFIG_MAX_HTTP_REQUESTS: "1",
  BUN_JSC_dumpOptions: "0",
  NODE_OPTIONS: `--require ${join(dir, "evil.ts")}`,
  NODE_TLS_REJECT_UNAUTHORIZED: "0",
  NODE_PATH: dir,
  HTTP_PROXY: "http://127.0.0.1:1",
  http_proxy: "http://127.0.0.1:1",
});

goal(
  43,
  "hostile working directory and environment",
  "0 effect; none of the files is opened by the serving process; BUN_* and NODE_OPTIONS are scrubbed",
  async () => {
    if (!existsSync("/usr/bin/strace"))
      return { measured: "strace is not installed: not measured", holds: true, short: "no strace" };
    const dir = mkdtempSync(join(tmpdir(), "weir-hostile-"));
    const names = makeHostile(dir);
    const home = join(dir, "home");
    const trace = join(folder, "trace");
    const env = environmentIn(home, { WEIR_WORKERS: "1", ...HOSTILE_ENVIRONMENT(dir) });
    // BUN_OPTIONS works before any code of ours does: that it was there is only undone by the second start.
    delete env["BUN_OPTIONS"];
    const child = Bun.spawn(
      [
        "strace",
        "-f",
        "-e",
        "trace=open,openat,openat2,execve",
        "-o",
        trace,
        join(folder, "weir"),
        "--port",
        "0",
      ],
      {
        cwd: dir,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    try {
      const { url, pid } = await listening(child);
      const answer = await smoke(url);
      const environ = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      const kept = environ
        .filter((entry) => /^(BUN_|NODE_OPTIONS|NODE_TLS)/.test(entry))
        .map((entry) => entry.split("=")[0]);
      const calls = readFileSync(trace, "utf8").split("\n");
      // Before its second start the runtime looks at what the environment names; no code of the folder runs then either.
      const second = calls.findLastIndex((line) => line.includes("execve"));
      const openedIn = (lines: readonly string[]) =>
        names.filter((name) => lines.some((line) => line.includes(`${name}"`) && !line.includes("ENOENT")));
      const opened = openedIn(calls.slice(second));
      const before = openedIn(calls.slice(0, second));
      const owned = existsSync(join(dir, "owned"));
      return {
        measured: `${names.length} hostile files: ${opened.length} opened ${opened.join(" ")} (${before.length} before the clean start), ${owned ? "code was run" : "no code run"}; of ${Object.keys(env).length - 4} variables ${kept.join(" ")} is left, the gateway's own; ${answer} calls answered`,
        holds:
          opened.length === 0 &&
          !owned &&
          kept.join() === "BUN_CONFIG_MAX_HTTP_REQUESTS" &&
          environ.includes("BUN_CONFIG_MAX_HTTP_REQUESTS=65336"),
      };
    } finally {
      // The tracer waits for whom it traces.
      process.kill(childOf(child.pid), "SIGTERM");
      await child.exited;
      rmSync(dir, { recursive: true, force: true });
    }
  },
  600_000,
);

/** Waits for the line that says where it listens. */
async function listening(
  child: Bun.Subprocess<"ignore", "pipe", "pipe">,
): Promise<{ url: string; pid: number }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of child.stderr) {
    text += decoder.decode(bytes);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    if (url) return { url, pid: childOf(child.pid) };
  }
  throw new Error(`It did not start:\n${text}`);
}

/** The traced process under strace. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}

/** Calls of every kind. @returns how many were answered as they should be */
async function smoke(url: string): Promise<number> {
  const ask = (path: string, body: object) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const messages = [{ role: "user", content: "all is well" }];
  const texts = [
    await (await fetch(`${url}/health`)).text(),
    await (await fetch(`${url}/v1/models`)).text(),
    await (await ask("/v1/chat/completions", { model: "mock/echo", messages })).text(),
    await (await ask("/v1/chat/completions", { model: "mock/echo", stream: true, messages })).text(),
    await (await ask("/v1/messages", { model: "mock/echo", max_tokens: 50, messages })).text(),
    await (await ask("/v1/messages", { model: "mock/echo", max_tokens: 50, stream: true, messages })).text(),
  ];
  const wanted = [/"ok"/, /mock\/chat/, /all is well/, /\[DONE\]/, /all is well/, /message_stop/];
  return texts.filter((text, index) => wanted[index]!.test(text)).length;
}

goal(
  45,
  "runs locked down",
  "uid 65532, read-only root, no capabilities, no network but loopback: all calls answered",
  async () => {
    if (!isRoot)
      return { measured: "only root can lock a process down: not measured", holds: true, short: "not root" };
    const script = join(folder, "locked.sh");
    const client = join(folder, "client.ts");
    writeFileSync(client, CLIENT);
    // In namespaces of its own: the whole tree read-only, loopback up, no rights; the client looks from inside.
    writeFileSync(
      script,
      `set -e
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || true
mount --make-rprivate /
mount -o remount,bind,ro / 2>/dev/null || mount --bind / / && mount -o remount,bind,ro /
cd /
env -i setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs -- ${folder}/weir --port 9348 >/dev/null 2>&1 &
weir=$!
${process.execPath} ${client} http://127.0.0.1:9348 $weir
kill -TERM $weir
wait $weir
echo exit $?
`,
    );
    const run = Bun.spawn(["unshare", "--net", "--mount", "sh", script], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    await run.exited;
    if (!out.includes("answered")) console.log(out, err);
    return {
      measured: out.trim().replaceAll("\n", ", "),
      holds:
        out.includes("answered 6 of 6") &&
        out.includes(`uid ${NOBODY}`) &&
        out.includes("capabilities 0000000000000000") &&
        out.includes("exit 0") &&
        out.includes("root read-only") &&
        out.includes("network lo"),
    };
  },
  600_000,
);

const CLIENT = `import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
  const [url, pid] = process.argv.slice(2);
  ${smoke.toString().replace(/^async function smoke/, "async function smoke")}
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(url + "/health").then(({ ok }) => ok, () => false)) break;
    await Bun.sleep(50);
  }
  const status = readFileSync("/proc/" + pid + "/status", "utf8");
  const of = (name) => new RegExp("^" + name + ":\\\\s+(\\\\S+)", "m").exec(status)?.[1];
  let written = true;
  try { writeFileSync("/weir-was-here", "x"); } catch { written = false; }
  console.log("uid " + of("Uid"));
  console.log("capabilities " + of("CapEff"));
  console.log(written ? "root writable" : "root read-only");
  console.log("network " + readFileSync("/proc/net/dev", "utf8").split("\\n").slice(2).map((line) => line.split(":")[0].trim()).filter(Boolean).join(" "));
  console.log("answered " + (await smoke(url)) + " of 6");
  console.log("resident " + Math.round(Number(of("VmRSS")) / 1024) + " MB");
`;

test("nothing of the test is left on the disk", () => {
  expect(existsSync("/weir-was-here")).toBe(false);
  expect(readdirSync(folder)).toContain("weir");
});
