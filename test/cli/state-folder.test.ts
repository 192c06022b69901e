/** The state folder and the keeper of a running gateway: where answers are stored, who may store there, and its restart. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { socketLink } from "../../src/keeper/socket-link.ts";
import { serve, type Serving, type ServingOptions, until } from "../helpers/serving.ts";
import { answerOf, PATIENT_MS } from "../keeper/suite.ts";

const LONG_MS = 600_000;
let running: Serving[] = [];
let folders: string[] = [];

afterEach(async () => {
  for (const weir of running) await weir.end();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  running = [];
  folders = [];
});

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-state-"));
  folders.push(folder);
  return folder;
}

async function start(options: Partial<ServingOptions> & { workers: number }): Promise<Serving> {
  const weir = await serve({ config: "graceMs: 1000\n", ...options });
  running.push(weir);
  return weir;
}

const answersLine = async (weir: Serving) => {
  await until(() => weir.log.some((line) => line.startsWith("  try: ")), LONG_MS);
  return weir.log.find((line) => line.includes("answers: "))?.trim();
};

const keeperOf = (weir: Serving) => weir.keeper();
const socketOf = (weir: Serving) =>
  join(
    weir.folder,
    "run/weir",
    readdirSync(join(weir.folder, "run/weir")).find((name) => name.endsWith(".sock"))!,
  );

describe.each([1, 2])("%d worker(s)", (workers) => {
  test(
    "without a named state folder no answer is stored",
    async () => {
      const weir = await start({ workers });
      expect(await answersLine(weir)).toBeUndefined();
      expect(existsSync(join(weir.folder, ".local/state/weir/responses.db"))).toBe(false);
    },
    LONG_MS,
  );

  test.each(["WEIR_STATE", "STATE_DIRECTORY"])(
    "%s names the state folder",
    async (variable) => {
      const folder = join(stateFolder(), "new");
      const weir = await start({ workers, env: { [variable]: folder } });
      expect(await answersLine(weir)).toBe(`answers: stored in ${folder} for 30 days`);
      expect(await until(() => existsSync(join(folder, "responses.db")), LONG_MS)).toBe(true);
    },
    LONG_MS,
  );

  test(
    "responses.store: on stores in the default folder, and off wins over a named one",
    async () => {
      const on = await start({ workers, config: "responses: {store: on}\n" });
      const folder = join(on.folder, ".local/state/weir");
      expect(await answersLine(on)).toBe(`answers: stored in ${folder} for 30 days`);
      const state = stateFolder();
      const off = await start({ workers, config: "responses: {store: off}\n", env: { WEIR_STATE: state } });
      expect(await answersLine(off)).toBe("answers: not stored; responses.store is off");
      expect(readdirSync(state)).not.toContain("responses.db");
    },
    LONG_MS,
  );

  test(
    "state: none stores in memory",
    async () => {
      const weir = await start({ workers, env: { WEIR_STATE: "none" } });
      expect(await answersLine(weir)).toBe("answers: stored in memory until weir ends, at most 30 days");
    },
    LONG_MS,
  );

  test(
    "a second gateway on the same state folder is refused with the process that has it, and a killed one leaves no lock",
    async () => {
      const folder = stateFolder();
      const weir = await start({ workers, env: { WEIR_STATE: folder } });
      const second = weir.run("serve", "--port", "0", "--workers", String(workers), "--state", folder);
      expect(second.code).toBe(1);
      expect(second.output).toContain(
        `the state folder ${folder} is in use by another weir process (pid ${weir.pid}); stop that process or name another folder with --state`,
      );
      weir.signal("SIGKILL");
      await weir.exited;
      const third = await start({ workers, env: { WEIR_STATE: folder } });
      expect(await answersLine(third)).toBe(`answers: stored in ${folder} for 30 days`);
    },
    LONG_MS,
  );

  test(
    "a second gateway on the default folder keeps its data in memory and says so",
    async () => {
      const folder = stateFolder();
      const config = "responses: {store: on}\n";
      const first = await start({ workers, config, env: { HOME: folder } });
      const second = await start({ workers, config, env: { HOME: folder } });
      expect(await answersLine(second)).toBe(
        `answers: stored in memory until weir ends, at most 30 days (${folder}/.local/state/weir is in use by another weir process (pid ${first.pid}))`,
      );
      expect(await answersLine(first)).toBe(`answers: stored in ${folder}/.local/state/weir for 30 days`);
    },
    LONG_MS,
  );

  test(
    "a damaged file is left as it is: weir serves without storing, or ends if the config demands storing",
    async () => {
      const folder = stateFolder();
      const damaged = "not a database at all, although it is long enough for one\n".repeat(50);
      await Bun.write(join(folder, "responses.db"), damaged);
      const weir = await start({ workers, env: { WEIR_STATE: folder } });
      expect(await answersLine(weir)).toContain(`answers: not stored: ${folder}/responses.db is damaged`);
      await weir.end();
      const refused = start({ workers, env: { WEIR_STATE: folder }, config: "responses: {store: on}\n" });
      expect(await refused.catch((fault: Error) => fault.message)).toContain(
        "answers cannot be stored, and responses.store is on",
      );
      expect(readFileSync(join(folder, "responses.db"), "utf8")).toBe(damaged);
    },
    LONG_MS,
  );
});

test(
  "a named folder that is a file stops the start",
  async () => {
    const folder = join(stateFolder(), "file");
    await Bun.write(folder, "");
    const refused = start({ workers: 1, env: { WEIR_STATE: folder } });
    expect(await refused.catch((fault: Error) => fault.message)).toContain(
      `the state folder ${folder} cannot be used: `,
    );
  },
  LONG_MS,
);

test(
  "the supervisor restarts a keeper that is killed, the workers connect to it, and all end together",
  async () => {
    const weir = await start({ workers: 2, env: { WEIR_STATE: stateFolder() } });
    const store = new AnswerClient(socketLink(socketOf(weir)));
    await store.start();
    expect(await store.put(answerOf("a"), PATIENT_MS)).toBe("stored");
    const first = keeperOf(weir)!;
    process.kill(first, "SIGKILL");
    expect(
      await until(
        () => weir.log.some((line) => line.includes("the keeper ended by signal SIGKILL; weir restarts it")),
        LONG_MS,
      ),
    ).toBe(true);
    expect(await until(() => ![undefined, first].includes(keeperOf(weir)), LONG_MS)).toBe(true);
    expect((await store.get("a", "config:alice"))?.id).toBe("a");
    await store.close();
    const keeper = keeperOf(weir)!;
    const socket = socketOf(weir);
    weir.signalGroup("SIGTERM");
    expect(await weir.exited).toBe(0);
    expect(existsSync(`/proc/${keeper}`)).toBe(false);
    expect(existsSync(socket)).toBe(false);
  },
  LONG_MS,
);

test(
  "the books are in the default folder, of a second gateway in memory, and the start tables say so",
  async () => {
    const folder = stateFolder();
    const booksLine = (weir: Serving) => weir.log.find((line) => line.startsWith("  books: "))?.trim();
    const first = await start({ workers: 1, env: { HOME: folder } });
    expect(await until(() => booksLine(first) !== undefined, LONG_MS)).toBe(true);
    expect(booksLine(first)).toBe(`books: in ${folder}/.local/state/weir/weir.db`);
    const second = await start({ workers: 2, env: { HOME: folder } });
    expect(await until(() => booksLine(second) !== undefined, LONG_MS)).toBe(true);
    expect(booksLine(second)).toBe(
      `books: in memory until weir ends (${folder}/.local/state/weir is in use by another weir process (pid ${first.pid}))`,
    );
    const file = join(folder, "file");
    await Bun.write(file, "");
    const third = await start({ workers: 1, env: { HOME: file } });
    expect(await until(() => booksLine(third) !== undefined, LONG_MS)).toBe(true);
    expect(booksLine(third)).toContain("books: in memory until weir ends (");
  },
  LONG_MS,
);

test(
  "an answer that a paused keeper could not store in time is not there when the keeper runs again",
  async () => {
    const weir = await start({ workers: 2, env: { WEIR_STATE: stateFolder() } });
    const store = new AnswerClient(socketLink(socketOf(weir)));
    await store.start();
    const keeper = keeperOf(weir)!;
    process.kill(keeper, "SIGSTOP");
    expect(await store.put(answerOf("late"), 50)).toBe("late");
    process.kill(keeper, "SIGCONT");
    expect(await store.put(answerOf("in-time"), PATIENT_MS)).toBe("stored");
    expect(await store.get("late", "config:alice")).toBeUndefined();
    await store.close();
  },
  LONG_MS,
);

test(
  "a reload that moves the store says that it needs a restart",
  async () => {
    const weir = await start({ workers: 1, env: { WEIR_STATE: "none" } });
    weir.configure("responses: {fileBytes: 5000000, commitMs: 500}\n");
    expect(weir.run("reload").code).toBe(0);
    expect(
      await until(
        () => weir.log.some((line) => line.includes("responses: changes take effect after a restart")),
        LONG_MS,
      ),
    ).toBe(true);
  },
  LONG_MS,
);

test(
  "a worker of a running gateway is restarted also while the file cannot be opened",
  async () => {
    const folder = stateFolder();
    const config = "responses: {store: on}\n";
    const weir = await start({ workers: 2, env: { WEIR_STATE: folder }, config });
    const keeper = keeperOf(weir)!;
    for (const name of readdirSync(folder)) if (name.startsWith("responses.db")) rmSync(join(folder, name));
    await Bun.write(join(folder, "responses.db"), "no database, but long enough to be one\n".repeat(99));
    process.kill(keeper, "SIGKILL");
    expect(await until(() => ![undefined, keeper].includes(keeperOf(weir)), LONG_MS)).toBe(true);
    const worker = weir.workers().find((pid) => pid !== keeperOf(weir))!;
    process.kill(worker, "SIGKILL");
    expect(await until(() => weir.log.some((line) => /worker \d is serving/.test(line)), LONG_MS)).toBe(true);
    expect((await fetch(`${weir.url}/health`)).status).toBe(200);
  },
  LONG_MS,
);

test(
  "the keeper ends when the supervisor is killed and the workers have ended",
  async () => {
    const weir = await start({ workers: 2, env: { WEIR_STATE: stateFolder() } });
    const keeper = keeperOf(weir)!;
    weir.signal("SIGKILL");
    expect(await until(() => !existsSync(`/proc/${keeper}`), LONG_MS)).toBe(true);
  },
  LONG_MS,
);
