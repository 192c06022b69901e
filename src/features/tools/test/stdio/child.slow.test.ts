/** Programs: what they get, what they may print, and how they end. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../../core/json.ts";
import { type ChildEvents, RunningChild } from "../../servers/stdio/child.ts";
import { Folders } from "../../servers/stdio/folders.ts";
import { fake, membersOf, Place, until } from "./place.ts";

setDefaultTimeout(60_000);

/** A program, and what weir heard of it. */
function run(place: Place, command: readonly string[], env: Record<string, string> = {}) {
  const heard: JsonObject[] = [];
  const ends: string[] = [];
  const unread: unknown[] = [];
  const events: ChildEvents = {
    message: (message) => heard.push(message) > 0 && "id" in message,
    unreadable: (id) => void unread.push(id),
    ended: (why) => void ends.push(why),
  };
  const program = { server: "fake", command, env, folder: place.root };
  const child = new RunningChild(place, program, events, [300, 300]);
  let calls = 0;
  /** What a tool answers as text. */
  const call = async (name: string, given: JsonObject = {}): Promise<string> => {
    const id = ++calls;
    child.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given } });
    await until(() => ends.length > 0 || heard.some((message) => message["id"] === id), 30_000);
    const answer = heard.find((message) => message["id"] === id);
    const { content } = (answer?.["result"] ?? {}) as { content?: { text: string }[] };
    return content?.[0]?.text ?? "";
  };
  return { child, heard, ends, unread, call };
}

const sh = (script: string, ...args: string[]) => ["sh", "-c", script, ...args];

test("a program has PATH, LANG, TZ and what its config names, and no secret of weir", async () => {
  using place = new Place();
  const planted = {
    OPENAI_API_KEY: "sk-planted",
    WEIR_SERVICE_SETTINGS: "{}",
    LANG: "C.UTF-8",
    HOME: "/root",
  };
  const before = { ...process.env };
  Object.assign(process.env, planted);
  try {
    const { child, call } = run(place, fake(), { MINE: "a b", TZ: "Asia/Tokyo" });
    const env = JSON.parse(await call("env")) as Record<string, string>;
    expect(env).toEqual({ PATH: process.env["PATH"]!, LANG: "C.UTF-8", TZ: "Asia/Tokyo", MINE: "a b" });
    await child.stop();
  } finally {
    for (const name in planted) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("arguments are literal, files are its user's only, and no descriptor is inherited", async () => {
  using place = new Place();
  const args = ["$HOME", "`id`", "; touch hacked", "a b", "*", '"', "'", "\\", "$(id)", "|cat", "\n", "ü"];
  const mask = process.umask();
  const { child, call } = run(place, fake(...args));
  expect(JSON.parse(await call("args"))).toEqual(args);
  expect(await call("cwd")).toBe(place.root);
  await child.stop();
  expect(existsSync(join(place.root, "hacked"))).toBe(false);
  const shell = run(place, sh("touch made; ls /proc/self/fd >fds; echo '{\"a\":1}'"));
  await until(() => shell.ends.length > 0);
  expect(statSync(join(place.root, "made")).mode & 0o777).toBe(0o600);
  // The fourth is the folder that `ls` reads.
  expect((await Bun.file(join(place.root, "fds")).text()).trim().split("\n")).toEqual(["0", "1", "2", "3"]);
  expect(shell.heard).toEqual([{ a: 1 }]);
  expect(shell.ends).toEqual(["it ended with exit code 0"]);
  expect(process.umask()).toBe(mask);
});

test("a program that cannot be started is an error with a reason", () => {
  using place = new Place();
  for (const [command, why] of [
    ["no-such-program", "there is no such file"],
    ["/etc/passwd", "permission denied"],
  ] as const)
    expect(() => run(place, [command])).toThrow(
      `server fake cannot be reached: ${command} cannot be started: ${why}`,
    );
});

test("a banner does no harm, and after 100 lines that are no messages a program is stopped", async () => {
  using place = new Place();
  const { child, call, ends } = run(place, fake("banner"));
  expect(await call("echo", { said: "a" })).toBe("a");
  expect(await call("invalid", { lines: 90 })).toBe("said");
  expect(ends).toEqual([]);
  expect(place.said).toEqual(["the server fake printed a line that is not JSON: Fake server 1.0"]);
  await call("other", { lines: 10 });
  await until(() => ends.length > 0);
  expect(ends).toEqual(["it printed 100 lines that are no messages"]);
  await child.stop();
  expect(place.said).toHaveLength(1);
  const other = run(place, fake());
  await other.call("other", { lines: 1 });
  expect(place.said[1]).toBe("the server fake printed a line that is not JSON: no message, key [credential]");
  await other.child.stop();
});

test("stopping closes the input, then sends SIGTERM, then SIGKILL", async () => {
  using place = new Place();
  const marks = 'trap "echo term >>marks" TERM; cat; echo eof >>marks;';
  const timed = async (script: string) => {
    const { child, ends } = run(place, sh(script));
    await Bun.sleep(100);
    const began = performance.now();
    await child.stop();
    expect(ends).toEqual([]);
    // The kernel takes a moment to end what SIGKILL has reached.
    await until(() => membersOf(child.pid).length === 0, 2_000);
    expect(membersOf(child.pid)).toEqual([]);
    const file = Bun.file(join(place.root, "marks"));
    const marked = (await file.exists()) ? (await file.text()).trim().split("\n") : [];
    if (await file.exists()) await file.delete();
    return { ms: performance.now() - began, marked };
  };
  const kind = await timed(`${marks}`);
  expect(kind.marked).toEqual(["eof"]);
  expect(kind.ms).toBeLessThan(280);
  const stubborn = await timed(`${marks} while :; do sleep 0.05; done`);
  expect(stubborn.marked).toEqual(["eof", "term"]);
  expect(stubborn.ms).toBeGreaterThan(550);
  const slow = await timed("trap 'exit 0' TERM; while :; do sleep 0.05; done");
  expect(slow.ms).toBeGreaterThan(280);
  expect(slow.ms).toBeLessThan(580);
});

test("a program that forks leaves no process", async () => {
  using place = new Place();
  for (let round = 0; round < 20; round++) {
    const { child, call, ends } = run(place, fake());
    const pids = JSON.parse(await call("fork")) as number[];
    expect(pids).toHaveLength(3);
    expect(membersOf(child.pid).length).toBeGreaterThan(3);
    if (round % 2 === 0) await child.stop();
    else {
      await call("killed");
      await until(() => ends.length > 0);
      await child.stop();
    }
    // They were killed; the kernel takes a moment.
    await until(() => membersOf(child.pid).length === 0, 1000);
  }
});

test("a process that left the group and holds the output does not hold up the end", async () => {
  using place = new Place();
  const { child, heard, ends } = run(place, sh("setsid sleep 3 & sleep 0.1; echo '{\"last\":true}'; exit 4"));
  await until(() => ends.length > 0, 2000);
  expect(ends).toEqual(["it ended with exit code 4"]);
  expect(heard).toEqual([{ last: true }]);
  await child.stop();
});

test("how a program ended is told once", async () => {
  using place = new Place();
  for (const [tool, why] of [
    ["die", "it ended with exit code 9"],
    ["killed", "it was ended by the signal SIGKILL"],
    ["closes", "it closed its output"],
    ["endless", "it printed a line of more than 16777216 bytes"],
  ] as const) {
    const { child, call, ends } = run(place, fake());
    await call(tool, { code: 9 });
    await until(() => ends.length > 0);
    await child.stop();
    await Bun.sleep(20);
    expect(ends).toEqual([why]);
    expect(() => child.send({})).toThrow("server fake cannot be reached: it has ended");
  }
});

test("a message that is nested too deeply is not read", async () => {
  using place = new Place();
  const { child, call, unread } = run(place, fake());
  call("deep", { depth: 10_000 }).catch(() => {});
  await until(() => unread.length > 0);
  expect(unread).toEqual([1]);
  expect(await call("echo", { said: "b" })).toBe("b");
  await child.stop();
});

test("weir keeps the last 64 KiB of the standard error", async () => {
  using place = new Place();
  const { child, call } = run(place, fake());
  await call("errors", { bytes: 300_000 });
  await until(() => child.errors.endsWith("the last words\n"));
  expect(child.errors).toHaveLength(65_536);
  await child.stop();
});

test("a program that does not read holds up no more than 16 MiB", async () => {
  using place = new Place();
  const { child } = run(place, fake("deaf"));
  const message = { text: "x".repeat(1024 * 1024) };
  let sent = 0;
  expect(() => {
    for (; sent < 100; sent++) child.send(message);
  }).toThrow("server fake cannot be reached: it does not read what weir sends to it");
  expect(sent).toBeWithin(14, 18);
  await child.stop();
});

test("folders are private, empty and removed; lasting ones are found again", async () => {
  using place = new Place();
  mkdirSync(join(place.root, "run", "2000000000", "left"), { recursive: true });
  const folders = new Folders(place);
  const made = [folders.make(), folders.make()];
  expect(new Set(made).size).toBe(2);
  for (const one of made) {
    expect(statSync(one).mode & 0o777).toBe(0o700);
    expect(readdirSync(one)).toEqual([]);
  }
  await until(() => readdirSync(join(place.root, "run")).length === 1);
  expect(readdirSync(join(place.root, "run"))[0]).toStartWith(`${process.pid}-`);
  const lasting = folders.lasting("memory", "../../alice");
  expect(folders.lasting("memory", "../../alice")).toBe(lasting);
  expect(folders.lasting("memory", "bob")).not.toBe(lasting);
  expect(lasting.startsWith(join(place.root, "kept", "memory"))).toBe(true);
  await folders.close();
  expect(made.some((one) => existsSync(one))).toBe(false);
  expect(existsSync(lasting)).toBe(true);
  const without = new Folders({ folder: () => undefined, info() {} });
  const own = without.make();
  expect(statSync(own).mode & 0o777).toBe(0o700);
  await without.close();
  expect(existsSync(own)).toBe(false);
});
