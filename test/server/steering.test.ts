/** Which of the listeners of a port gets new connections, while an earlier one closes. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { steer } from "../../src/process/steering.ts";
import { Listener } from "../../src/server/listen.ts";

const opened: Listener[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((listener) => listener.stop(true)));
});

function listen(name: string, port = 0): Listener {
  const listener = new Listener({
    ...{ host: "127.0.0.1", port, shared: true },
    fetch: () => new Response(name),
    onFault: () => new Response("fault", { status: 500 }),
  });
  opened.push(listener);
  return listener;
}

/** Opens a connection and asks. @returns the body; empty when the connection was refused or reset */
function ask(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("connect", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"));
  socket.on("data", (chunk) => (text += String(chunk)));
  socket.on("error", () => {});
  socket.on("close", () => resolve(text.split("\r\n\r\n")[1] ?? ""));
  return promise;
}

const asks = (port: number, count: number) => Promise.all(Array.from({ length: count }, () => ask(port)));

/** Another process asks. @returns when all its connections are open, while this process stood still; then the answers */
function askFromOutside(port: number, count: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "weir-steering-"));
  const flag = join(folder, "open");
  const script = `import { connect } from "node:net"; import { writeFileSync } from "node:fs";
    let open = 0;
    const one = () => new Promise((resolve) => {
      let text = "";
      const socket = connect(${port}, "127.0.0.1", () => {
        socket.write("GET / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n");
        if (++open === ${count}) writeFileSync(${JSON.stringify(flag)}, "");
      });
      socket.on("data", (chunk) => (text += chunk)).on("error", () => {});
      socket.on("close", () => resolve(text.split("\\r\\n\\r\\n")[1] ?? ""));
    });
    console.log(JSON.stringify(await Promise.all(Array.from({ length: ${count} }, one))));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  for (const until = performance.now() + 20_000; !existsSync(flag) && performance.now() < until;)
    Bun.sleepSync(5);
  return new Response(child.stdout).json().finally(() => rmSync(folder, { recursive: true }));
}

/** How often each answer came. */
function tally(answers: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const answer of answers) found[answer] = (found[answer] ?? 0) + 1;
  return found;
}

const testLinux = test.if(process.platform === "linux");

testLinux(
  "connections go to all listeners, to the newest ones, to the first of them, and to all again",
  async () => {
    const { port } = listen("old");
    for (const name of ["first", "second"]) listen(name, port);
    expect(Object.keys(tally(await asks(port, 200))).sort()).toEqual(["first", "old", "second"]);
    await steer(port, "spread", 2);
    expect(Object.keys(tally(await asks(port, 200))).sort()).toEqual(["first", "second"]);
    await steer(port, "one", 2);
    expect(tally(await asks(port, 50))).toEqual({ first: 50 });
    await steer(port, "free", 3);
    expect(Object.keys(tally(await asks(port, 200))).sort()).toEqual(["first", "old", "second"]);
  },
);

testLinux(
  "without a filter a listener that closes resets what is in its queue; with one nothing is there",
  async () => {
    for (const isSteered of [false, true]) {
      const old = [listen("old")];
      const { port } = old[0]!;
      old.push(listen("old", port));
      const next = [listen("new", port), listen("new", port)];
      if (isSteered) await steer(port, "one", next.length);
      const answers = askFromOutside(port, 100);
      // The system has accepted the connections, and this process has not looked yet.
      for (const listener of old) void listener.stop(false);
      const { new: whole = 0, "": reset = 0 } = tally(await answers);
      if (isSteered) expect({ whole, reset }).toEqual({ whole: 100, reset: 0 });
      else expect(reset).toBeGreaterThan(0);
      if (isSteered) await steer(port, "free", next.length);
    }
  },
);

testLinux("answers of a listener that leaves end their connections", async () => {
  const listener = listen("old");
  const url = `http://127.0.0.1:${listener.port}/`;
  expect((await fetch(url)).headers.get("connection")).not.toBe("close");
  listener.leave();
  const last = await fetch(url);
  expect(last.headers.get("connection")).toBe("close");
  expect(await last.text()).toBe("old");
});

test("a process that does not listen on a port cannot direct its connections", async () => {
  expect(steer(1, "spread", 1)).rejects.toThrow("does not listen on port 1");
});
