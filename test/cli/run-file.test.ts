/** Which gateways commands find by their run files. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beginningOf, isReachable, runningGateways } from "../../src/run/run-file.ts";

test("a gateway in another network is not reachable, unless it is on a unix socket", () => {
  const networks: Record<string, string> = { self: "net:[1]", "7": "net:[1]", "8": "net:[2]" };
  const networkOf = (process: number | "self") => {
    const found = networks[process];
    if (found === undefined) throw new Error("not permitted");
    return found;
  };
  const rows: [pid: number, port: number, reachable: boolean][] = [
    [7, 9347, true],
    [8, 9347, false],
    [8, 0, true],
    [9, 9347, true],
  ];
  for (const [pid, port, reachable] of rows)
    expect([pid, port, isReachable({ pid, port }, networkOf)]).toEqual([pid, port, reachable]);
});

test("commands do not count a gateway in another network", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-run-file-"));
  const run = join(folder, "weir");
  mkdirSync(run, { mode: 0o700 });
  // Where the system lets this user make no network, the process is in that of the test, and counts.
  const mayUnshare = Bun.which("unshare") !== null && Bun.spawnSync(["unshare", "-rn", "true"]).success;
  const there = Bun.spawn([...(mayUnshare ? ["unshare", "-rn"] : []), "sleep", "30"]);
  try {
    await Bun.sleep(300);
    for (const [port, pid] of [
      [1, process.pid],
      [2, there.pid],
    ] as const)
      writeFileSync(join(run, `${port}.json`), JSON.stringify({ port, pid, began: beginningOf(pid) }));
    const found = runningGateways({ XDG_RUNTIME_DIR: folder }).map(({ port }) => port);
    expect(found.sort()).toEqual(mayUnshare ? [1] : [1, 2]);
  } finally {
    there.kill();
    rmSync(folder, { recursive: true });
  }
});
