/** The programs of all servers: what is whose, when they start and end, and how many there are. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "../../servers/connection.ts";
import { Children, type ChildrenLimits } from "../../servers/stdio/children.ts";
import type { Wanted } from "../../servers/stdio/kept.ts";
import { CLIENT, descriptors, failureOf, fake, membersOf, Place, said, tool, until } from "./place.ts";

setDefaultTimeout(120_000);

type Some = Partial<Omit<Wanted, "config">> & {
  args?: string[];
  config?: Partial<Wanted["config"]>;
  owner?: string;
};

function open(place: Place, limits: Partial<ChildrenLimits> = {}) {
  const children = new Children(place, { grace: [300, 300], probeMs: 2000, ...limits });
  const ends: string[] = [];
  const start = ({ args = [], config = {}, owner = "alice", ...more }: Some, ended: (why: string) => void) =>
    children.connect(
      {
        ...{ server: "fake", principal: owner, client: CLIENT, preferred: "modern" },
        config: { command: fake(...args), env: {}, era: "auto", ...config },
        ...more,
      },
      { notified() {}, ended },
    );
  const pool = new Map<string, Promise<Connection>>();
  /** The connection of an owner, which holds as long as its program. */
  const connect = (some: Some = {}): Promise<Connection> => {
    const { owner = "alice", server = "fake" } = some;
    const key = `${server} ${owner}`;
    const forget = () => void pool.delete(key);
    const known = pool.get(key);
    if (known) return known;
    const connecting = start(some, (why) => {
      ends.push(`${owner}: ${why}`);
      forget();
    });
    pool.set(key, connecting);
    connecting.catch(forget);
    return connecting;
  };
  const pidOf = async (some?: Some) => Number(await said(await connect(some), "pid"));
  return { children, ends, start, connect, pidOf };
}

test("owners have programs, folders and memories of their own, over 200 calls and a crash", async () => {
  using place = new Place();
  const { children, connect, pidOf } = open(place);
  const owners = ["alice", "bob"];
  const pids = await Promise.all(owners.map((owner) => pidOf({ owner })));
  expect(new Set(pids).size).toBe(2);
  const counts = { alice: 0, bob: 0 };
  for (let call = 0; call < 200; call++) {
    const owner = call % 3 === 0 ? "alice" : "bob";
    counts[owner]++;
    await said(await connect({ owner }), "echo", {});
  }
  // A call of `pid`, those of `echo`, and this one.
  expect(await said(await connect({ owner: "alice" }), "calls")).toBe(String(counts.alice + 2));
  const cwds = await Promise.all(owners.map(async (owner) => said(await connect({ owner }), "cwd")));
  expect(new Set(cwds).size).toBe(2);
  expect(cwds.map((cwd) => readdirSync(cwd))).toEqual([[], []]);
  expect(await failureOf(said(await connect({ owner: "alice" }), "die", { code: 1 }))).toContain("1004");
  expect(await said(await connect({ owner: "bob" }), "calls")).toBe(String(counts.bob + 3));
  expect(await said(await connect({ owner: "alice" }), "calls")).toBe("1");
  await children.close();
  expect(cwds.map((cwd) => existsSync(cwd))).toEqual([false, false]);
});

test("{folder} in a variable is a lasting folder of the principal", async () => {
  using place = new Place();
  const { children, start } = open(place);
  const config = { env: { MEMORY: "{folder}/memory.json", PLAIN: "$& {other}" } };
  const envOf = async (wanted: Some) => {
    const connection = await start({ config, ...wanted }, () => {});
    const env = JSON.parse(await said(connection, "env")) as Record<string, string>;
    const cwd = await said(connection, "cwd");
    await connection.close();
    return { memory: env["MEMORY"]!, cwd, plain: env["PLAIN"] };
  };
  const first = await envOf({ owner: "alice" });
  const second = await envOf({ owner: "alice other capabilities", principal: "alice" });
  expect(first.plain).toBe("$& {other}");
  expect(second.memory).toBe(first.memory);
  expect(second.cwd).not.toBe(first.cwd);
  expect(first.memory).toStartWith(join(place.root, "kept", "fake"));
  expect((await envOf({ owner: "bob" })).memory).not.toBe(first.memory);
  const passing = await envOf({ owner: "bob", isPassing: true });
  expect(passing.memory).toBe(`${passing.cwd}/memory.json`);
  await children.close();
});

test("over a limit the longest idle program ends first, and without one the start is refused", async () => {
  using place = new Place();
  const { children, ends, connect, pidOf } = open(place, { each: 2, total: 3 });
  const own = (owner: string) => ({ owner, principal: "alice" });
  await pidOf(own("first"));
  await Bun.sleep(100);
  await pidOf(own("second"));
  await pidOf(own("third"));
  expect(ends).toEqual(["first: another program needed its place"]);
  const calls = ["second", "third"].map(async (owner) =>
    said(await connect(own(owner)), "slow", { ms: 1500 }),
  );
  await Bun.sleep(50);
  const refused = connect(own("fourth"));
  expect(await failureOf(refused)).toBe("1001 too many programs run: server fake cannot be started now");
  expect(await refused.catch((cause: { data: unknown }) => cause.data)).toEqual({
    ...{ code: "too_many_programs", server: "fake", retryAfter: 5 },
  });
  await pidOf({ owner: "bob" });
  await Bun.sleep(100);
  await pidOf({ owner: "carol" });
  expect(ends.at(-1)).toBe("bob: another program needed its place");
  const started = place.started.filter((pid) => membersOf(pid).length > 0);
  expect(started.length).toBeLessThanOrEqual(3);
  await Promise.all(calls);
  await children.close();
});

test("30 owners at 4 programs all get their answers", async () => {
  using place = new Place();
  const { children, connect } = open(place, { total: 4 });
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, place.started.filter((pid) => membersOf(pid).length > 0).length);
  }, 20);
  const owners = Array.from({ length: 30 }, (_, at) => `owner ${at}`);
  const answers = await Promise.all(
    owners.map(async (owner) => {
      for (;;)
        try {
          return await said(await connect({ owner }), "echo", { said: owner });
        } catch (cause) {
          expect(String(cause)).toContain("too many programs run");
          await Bun.sleep(100);
        }
    }),
  );
  clearInterval(watch);
  expect(answers).toEqual(owners);
  expect(most).toBeLessThanOrEqual(4);
  await children.close();
});

test("a program that crashes starts again later, and one that crashes often is down", async () => {
  using place = new Place();
  const { children, ends, connect, pidOf } = open(place);
  await pidOf();
  expect(await failureOf(said(await connect(), "killed"))).toContain("1004");
  expect(ends).toEqual(["alice: it was ended by the signal SIGKILL"]);
  const began = performance.now();
  await pidOf();
  expect(performance.now() - began).toBeGreaterThan(450);
  const why = "it ended with exit code 7";
  const dying = (owner: string) => failureOf(connect({ owner, args: ["dies"], server: "dying" }));
  expect(await dying("alice")).toBe(`1002 server dying cannot be reached: ${why}`);
  expect(place.started).toHaveLength(4);
  expect(place.said.at(-1)).toBe(`a program of the server dying failed: ${why}; it wrote: I have no heart`);
  expect(children.logs("dying")).toBe(`--- a program that ran for alice: ${why}\nI have no heart\n`);
  await dying("alice");
  await dying("alice");
  // The next start would be 2 s later; those after it are refused.
  await Bun.sleep(100);
  await dying("alice");
  expect(await dying("alice")).toBe(
    `1002 server dying cannot be reached: weir starts it again in 4 s: ${why}`,
  );
  expect(await dying("bob")).toBe(`1002 server dying cannot be reached: ${why}`);
  await children.close();
});

test("a program that was found down is told to the operator with its last words", async () => {
  using place = new Place();
  const { children, connect } = open(place);
  const kill = async () => {
    for (;;)
      try {
        return await said(await connect({ config: { era: "legacy" } }), "killed");
      } catch (cause) {
        if (!/starts it again in \d+ s/.test(String(cause)) || String(cause).includes("is down"))
          return String(cause);
        await Bun.sleep(500);
      }
  };
  for (let crash = 0; crash < 6; crash++) expect(await kill()).toContain("ended before it had answered");
  expect(await kill()).toMatch(
    /server fake is down: it ended again and again, and weir starts it again in \d+ s: it was ended by/,
  );
  expect(place.said.filter((line) => line.includes("is down"))).toHaveLength(1);
  children.forget("fake");
  expect(await said(await connect(), "echo", { said: "forgiven" })).toBe("forgiven");
  await children.close();
});

test("a program that ends at the question for its era gets the handshake at once", async () => {
  using place = new Place();
  const { children, connect } = open(place);
  expect((await connect({ args: ["picky"] })).era).toBe("legacy");
  expect(place.started).toHaveLength(2);
  expect((await connect({ args: ["picky"], owner: "bob" })).era).toBe("legacy");
  expect(place.started).toHaveLength(3);
  await children.close();
});

test("another config has not crashed yet, and a server that is taken away ends", async () => {
  using place = new Place();
  const { children, ends, connect, start } = open(place);
  const crash = () => failureOf(start({ args: ["dies"] }, () => {}));
  for (let crashed = 0; crashed < 3; crashed++) await crash();
  const began = performance.now();
  const connection = await start({}, () => {});
  expect(performance.now() - began).toBeLessThan(1000);
  await connection.close();
  await connect({ server: "other" });
  const [owner, waiting] = ["owner", "waiting"];
  const cut = failureOf(said(await connect({ owner }), "never"));
  expect(await failureOf(said(await connect({ owner: waiting }), "killed"))).toContain("1004");
  const late = failureOf(connect({ owner: waiting }));
  children.forget("fake");
  expect(await cut).toContain("1004");
  expect(ends.at(-1)).toBe("owner: the server was taken out of the config");
  expect(await late).toBe("1002 server fake cannot be reached: weir stops");
  expect(ends.filter((end) => end.startsWith("alice"))).toEqual([]);
  await children.close();
});

test("a start that was given up takes no place", async () => {
  using place = new Place();
  const { children, connect } = open(place, { each: 1 });
  for (let round = 0; round < 3; round++) {
    expect(await failureOf(said(await connect(), "killed"))).toContain("1004");
    const late = failureOf(connect());
    children.forget("fake");
    await late;
  }
  expect(await said(await connect(), "echo", { said: "a" })).toBe("a");
  await children.close();
});

test("ending a connection ends its program and tells nobody else", async () => {
  using place = new Place();
  const { children, ends, start } = open(place);
  const connection = await start({ isPassing: true }, (why) => void ends.push(why));
  const [pid] = place.started;
  await connection.close();
  expect(membersOf(pid!)).toEqual([]);
  expect(ends).toEqual([]);
  expect(await failureOf(said(connection, "echo"))).toBe(
    "1002 server fake cannot be reached: weir stopped it",
  );
  await children.close();
});

test("closing ends programs that start, that run and that are stubborn", async () => {
  using place = new Place();
  const { children, connect, pidOf } = open(place);
  const stubborn = await pidOf({ owner: "stubborn", args: ["stays"] });
  const running = await connect({ owner: "running" });
  const waits = failureOf(running.request(tool("never").outgoing));
  const starting = failureOf(connect({ owner: "starting", args: ["deaf"] }));
  await until(() => place.started.length === 3);
  await children.close();
  expect(await waits).toBe("1004 server fake ended before it had answered: weir stops");
  expect(await starting).toContain("1002");
  await until(() => place.started.every((pid) => membersOf(pid).length === 0), 1000);
  expect(stubborn).toBe(place.started[0]!);
  expect(readdirSync(join(place.root, "run"))).toEqual([]);
});

test("500 programs come and go without a descriptor, folder or process left", async () => {
  using place = new Place();
  const { children, start } = open(place);
  const before = descriptors();
  let at = 0;
  const work = async () => {
    for (let mine = at++; mine < 500; mine = at++) {
      const connection = await start(
        {
          ...{ principal: String(mine % 40), server: `s${mine % 7}` },
          config: { command: ["sh", "-c", SMALL], era: "legacy" },
        },
        () => {},
      );
      expect(await said(connection, "echo")).toBe("hello");
      await connection.close();
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(place.started).toHaveLength(500);
  await children.close();
  await until(() => descriptors() <= before, 3000);
  expect(place.started.filter((pid) => membersOf(pid).length > 0)).toEqual([]);
  expect(readdirSync(join(place.root, "run"))).toEqual([]);
});

/** A server that is a shell script, since 500 of Bun would take a minute: it answers 1 and 2. */
const SMALL = `
read -r first
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'
read -r initialized; read -r call
echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello"}]}}'
read -r end
`;
