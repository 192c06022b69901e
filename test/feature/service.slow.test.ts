/** The process of a feature in a copy of the source: all workers share one, and what it starts ends with it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command as send } from "../helpers/commanded.ts";
import { serve, until } from "../helpers/serving.ts";
import { SourceCopy } from "../helpers/source-copy.ts";
import type { Command, Order, Report } from "../helpers/workshop.ts";

setDefaultTimeout(120_000);

let copy: SourceCopy;

beforeAll(() => {
  copy = new SourceCopy();
  copy.take("test/helpers/workshop.ts", "test/helpers/commanded.ts");
  copy.add("workshop", "test/helpers/workshop.ts");
});

afterAll(() => copy.remove());

/** A gateway with the feature. */
async function open(workers: number, executable?: string) {
  const folder = mkdtempSync(join(tmpdir(), "weir-service-state-"));
  const config = JSON.stringify({ log: { format: "json" }, state: folder });
  const program = executable === undefined ? { binary: false } : { binary: true, executable };
  const gateway = await serve({ root: copy.root, workers, config, ...program });
  const command = (given: Command) => send<Report>(gateway.url, given);
  const order = (wanted: Order) => command({ order: wanted });
  const tell = async () => (await order({ do: "tell" })).pieces[0] as Told;
  const logged = (text: string) => gateway.log.filter((line) => line.includes(text)).length;
  const reload = () => gateway.signal("SIGHUP");
  const stop = async () => {
    gateway.signal("SIGTERM");
    const code = await gateway.exited;
    await gateway.end();
    return code;
  };
  return { gateway, reload, stop, folder, command, order, tell, logged };
}

interface Told {
  pid: number;
  made: number;
  waiting: number;
  stopped: number;
  asks: { worker: number; load: number };
  all: number[];
  folder: string;
}

const isAlive = (pid: number) => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
};

/** Processes whose command line has a text. */
const running = (text: string) =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });

/** A shell that starts a program in the background, and waits. @param seconds marks the processes of a test */
const forking = (seconds: string): Order => ({
  do: "spawn",
  command: ["/bin/sh", "-c", `sleep ${seconds} & echo on; env | sort; exec >&-; sleep ${seconds}`],
});

test.each([1, 2])("with %i workers, one process answers all", async (workers) => {
  const { gateway, reload, stop, folder, command, order, tell, logged } = await open(workers);
  try {
    expect(running("--service").filter((pid) => isOf(pid, copy.root))).toEqual([]);
    const first = await order({ do: "say", pieces: 3 });
    expect(first.pieces).toEqual([0, 1, 2]);
    const reports = await Promise.all(Array.from({ length: 60 }, () => order({ do: "tell" })));
    const workersSeen = new Set(reports.map(({ worker }) => worker));
    expect(new Set(reports.map(({ pieces }) => (pieces[0] as Told).pid)).size).toBe(1);
    expect(reports.every(({ worker, pieces }) => (pieces[0] as Told).asks.worker === worker)).toBe(true);
    expect(workersSeen.size).toBe(workers);
    expect((await tell()).folder).toBe(join(folder, "workshop"));

    // A reader that stops ends the work, and pieces are produced as they are read.
    const before = (await tell()).made;
    expect((await command({ order: { do: "say", pieces: 1e9 }, take: 5 })).pieces).toHaveLength(5);
    await Bun.sleep(200);
    expect((await tell()).made - before).toBe(5);
    const large = await order({ do: "say", pieces: 3, bytes: 20_000_000 });
    expect(large.pieces).toEqual([20_000_000, 20_000_000, 20_000_000]);
    expect((await command({ order: { do: "wait" }, abortMs: 100 })).fault).toContain("timed out");
    expect(await until(async () => (await tell()).stopped === 1)).toBe(true);

    const failed = await order({ do: "fail" });
    expect([failed.fault, failed.data]).toEqual(["the workshop is closed", { code: 7 }]);
    expect((await order({ do: "break" })).fault).toBe("the process of the feature failed; its log says why");
    expect(await until(() => logged("planted fault of the workshop") === 1)).toBe(true);

    reload();
    expect(await until(async () => (await tell()).all.every((load) => load === 2))).toBe(true);
  } finally {
    expect(await stop()).toBe(0);
  }
  expect(logged("the workshop closes")).toBe(1);
  rmSync(folder, { recursive: true });
});

const isOf = (pid: string, folder: string) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);

test.each([1, 2])("with %i workers, a process that is killed or hangs is started again", async (workers) => {
  const { gateway, reload, stop, folder, command, order, tell, logged } = await open(workers);
  try {
    const { pid } = await tell();
    const waits = Array.from({ length: 20 }, () => order({ do: "wait" }));
    const spawned = command({ order: forking(`3${workers}31.5`) });
    expect(await until(() => running(`3${workers}31.5`).length === 3)).toBe(true);
    // A call that comes later would be one for the next process.
    expect(await until(async () => (await tell()).waiting === 20, 20_000)).toBe(true);
    process.kill(pid, "SIGKILL");
    for (const { fault } of await Promise.all(waits))
      expect(fault).toBe("the process of workshop ended before it had answered");
    expect((await spawned).fault).toContain("ended before");
    expect(await until(() => running(`3${workers}31.5`).length === 0, 5_000)).toBe(true);
    // An ask that comes meanwhile waits for the next process.
    const next = await tell();
    expect(next.pid).not.toBe(pid);
    expect(next.asks.load).toBe(1);
    expect(logged("the process of workshop ended by signal SIGKILL; weir restarts it")).toBe(1);

    process.kill(next.pid, "SIGSTOP");
    expect(await until(() => logged("the process of workshop hangs") === 1, 20_000)).toBe(true);
    // An ask that comes before the process has ended is lost with it.
    const renewed = async () => {
      const told: { pid: number } | undefined = await tell();
      return told !== undefined && told.pid !== next.pid;
    };
    expect(await until(renewed, 20_000)).toBe(true);
  } finally {
    expect(await stop()).toBe(0);
  }
  rmSync(folder, { recursive: true });
});

test.each([1, 2])("with %i workers, programs of the process end with it", async (workers) => {
  const { gateway, reload, stop, folder, command, order, tell } = await open(workers);
  const mark = `3${workers}47.5`;
  const done = await order({ do: "spawn", command: ["/bin/sh", "-c", `sleep ${mark} & env | sort; exit 3`] });
  expect(await until(() => running(mark).length === 0)).toBe(true);
  const { ended } = done.pieces[1] as { ended: object };
  expect(ended).toEqual({ code: 3, signal: null });
  const clean = await order({ do: "spawn", command: ["/usr/bin/env"] });
  expect((clean.pieces[1] as { said: string }).said).toBe("PLANTED=1\n");
  const { pid } = await tell();
  void command({ order: forking(mark) }).catch(() => {});
  expect(await until(() => running(mark).length === 3)).toBe(true);
  // A gateway that is killed tells nothing: the process sees that its owner has gone.
  process.kill(gateway.pid, "SIGKILL");
  expect(await until(() => running(mark).length === 0 && !isAlive(pid), 10_000)).toBe(true);
  expect(readdirSync(join(folder)).filter((name) => name.startsWith("workshop-"))).toEqual([]);
  await gateway.end();
  rmSync(folder, { recursive: true });
});

test.each([1, 2])("with %i workers of the binary, the process is one of it", async (workers) => {
  const { gateway, stop, folder, command, order, tell } = await open(workers, copy.build());
  const mark = `3${workers}59.5`;
  try {
    expect((await order({ do: "say", pieces: 3 })).pieces).toEqual([0, 1, 2]);
    const { pid } = await tell();
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toStartWith(join(copy.root, "weir"));
    const spawned = command({ order: forking(mark) });
    expect(await until(() => running(mark).length === 3)).toBe(true);
    process.kill(pid, "SIGKILL");
    expect((await spawned).fault).toContain("ended before");
    expect(await until(() => running(mark).length === 0, 5_000)).toBe(true);
    expect((await tell()).pid).not.toBe(pid);
    expect(gateway.log.join()).toContain("ended by signal SIGKILL; weir restarts it");
  } finally {
    expect(await stop()).toBe(0);
  }
  rmSync(folder, { recursive: true });
});
