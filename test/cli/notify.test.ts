/** What the service manager hears. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notifyManager } from "../../src/process/notify.ts";
import { until } from "../helpers/serving.ts";

/** The runtime has no datagrams on unix sockets. */
const PYTHON = Bun.which("python3");

const LISTEN = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\\0", 1) if sys.argv[1].startswith("@") else sys.argv[1])
print("listens", flush=True)
print(s.recv(4096).decode(), flush=True)`;

test.if(process.platform === "linux" && PYTHON !== null)(
  "a message arrives at a path and at an abstract name",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-notify-"));
    try {
      for (const path of [join(folder, "socket"), `@weir-test-${crypto.randomUUID()}`]) {
        const child = Bun.spawn([PYTHON!, "-c", LISTEN, path], { stdout: "pipe" });
        let heard = "";
        const read = (async () => {
          for await (const bytes of child.stdout) heard += new TextDecoder().decode(bytes);
        })();
        expect(await until(() => heard === "listens\n", 20_000)).toBe(true);
        expect(await notifyManager({ NOTIFY_SOCKET: path }, "MAINPID=4711")).toBe(true);
        await read;
        expect(heard).toBe("listens\nMAINPID=4711\n");
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  60_000,
);

test("without a service manager nothing is sent, and nothing fails", async () => {
  expect(await notifyManager({}, "READY=1")).toBe(false);
  expect(await notifyManager({ NOTIFY_SOCKET: "/nonexistent/socket" }, "READY=1")).toBe(false);
});
