/** A gateway that a package runner has started ends with the runner; any other outlives its parents. */
import { afterEach, expect, test } from "bun:test";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";

let parent: Serving | undefined;
let gateway = 0;

afterEach(async () => {
  // An orphan is no child of its parent any more.
  if (isAlive(gateway)) process.kill(gateway, "SIGTERM");
  await until(() => !isAlive(gateway), 30_000);
  await parent?.end();
  parent = undefined;
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Starts a gateway under a shell. @param set a variable that the shell sets for the gateway alone */
async function startUnder(shell: string, set: string, workers = 1): Promise<Serving> {
  const script = shell.replace("GATEWAY", `${set} "$@"`);
  parent = await serve({
    config: "graceMs: 20000\n",
    workers,
    parent: ["sh", "-c", script, "sh"],
  });
  gateway = parent.children()[0]!;
  expect(isAlive(gateway)).toBe(true);
  return parent;
}

const MARK = "npm_lifecycle_event=start";

test.each([1, 2])(
  "with %d workers it stops in order when the runner is killed",
  async (workers) => {
    const weir = await startUnder("GATEWAY & wait", MARK, workers);
    const streamed = ask(weir.url, "mock/pace-40", true);
    await Bun.sleep(300);
    weir.signal("SIGKILL");
    expect(await until(() => !isAlive(gateway), 60_000)).toBe(true);
    expect((await streamed).text).toEndWith("data: [DONE]\n\n");
  },
  600_000,
);

test("it stops when the runner is killed and a shell stands between them", async () => {
  // The inner shell has the mark, as what a runner starts has; the outer one is the runner.
  const weir = await startUnder(`${MARK} sh -c 'GATEWAY; true' sh "$@" & wait`, "");
  gateway = await grandchild(weir);
  weir.signal("SIGKILL");
  expect(await until(() => !isAlive(gateway), 60_000)).toBe(true);
}, 600_000);

test.each([
  ["in the background of a shell that is killed", "GATEWAY & wait", ""],
  ["under nohup", "nohup GATEWAY & wait", "env"],
  ["under setsid", "setsid GATEWAY & wait", "env"],
])(
  "without a runner it lives on %s",
  async (_, shell, set) => {
    const weir = await startUnder(shell, set);
    weir.signal("SIGKILL");
    // Longer than it takes to notice that a runner is gone.
    await Bun.sleep(3_000);
    expect(isAlive(gateway)).toBe(true);
    expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  },
  600_000,
);

/** The process that the shell under the runner has started. */
async function grandchild({ pid }: Serving): Promise<number> {
  const children = async (of: number) =>
    (await Bun.file(`/proc/${of}/task/${of}/children`).text()).trim().split(" ").map(Number);
  const [shell] = await children(pid);
  return (await children(shell!))[0]!;
}
