/** The diet over random calls: a tool that is not used is always named, and one that is used never. */
import { expect, test } from "bun:test";
import { seededRandom } from "../../../../../test/helpers/recordings.ts";
import { NO_USAGE } from "../../../../core/events.ts";
import type { TapeEntry } from "../../../../gateway/recording/entry.ts";
import { permits } from "../../declarations.ts";
import { noClasses } from "../../cost/attribute.ts";
import { dietOf, proofOf } from "../../cost/diet.ts";
import { textOf } from "../../cost/diet-cli.ts";
import { isNamed, ToolLedger } from "../../cost/ledger.ts";
import { reportOf, serverOf } from "../../cost/report.ts";

/** The ways in which weir learns that a tool is in use. */
const WAYS = ["answer", "conversation", "run", "unread", "hosted", "none", "none", "none"] as const;

test("over 200 random ledgers, exactly the unused tools are named", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seededRandom(seed);
    const pick = (most: number) => Math.floor(random() * most);
    const tools = Array.from({ length: 1 + pick(40) }, (_, index) => ({
      name: pick(2) === 0 ? `server${pick(3)}__tool${index}` : `mcp__a__server${pick(3)}__own${index}`,
      way: WAYS[pick(WAYS.length)]!,
    }));
    const ledger = new ToolLedger();
    const sizes = ({ name, way }: (typeof tools)[number]) => ({
      ...{ name, bytes: 10 + pick(500), ...(way === "hosted" && { isHosted: true as const }) },
    });
    const add = (given: typeof tools, more: object) =>
      ledger.add(
        {
          ...{ tools: given.map(sizes), bytes: 30_000, results: [], errors: [], calls: [], isUnread: false },
          ...more,
        },
        { usage: { ...NO_USAGE, input: 5_000 }, charge: { cost: 0 }, rule: undefined, before: 0, at: seed },
      );
    for (let call = pick(30); call >= 0; call--) add(tools, {});
    for (const tool of tools) {
      if (tool.way === "answer") add(tools, { calls: [[tool.name, 1]] });
      if (tool.way === "conversation") add(tools, { results: [[tool.name, noClasses()]] });
      if (tool.way === "unread") add([tool], { isUnread: true });
    }
    for (const { name, way } of tools)
      if (way === "run")
        ledger.addRuns(name.replace("mcp__a__", ""), { count: 1, errors: 0, cost: 0, at: 1 });
    const diet = dietOf(reportOf(ledger, ["server0", "server1"]), new Map());
    const named = [...diet.clients, ...diet.servers.flatMap(({ unused }) => unused)].map(({ tool }) => tool);
    const unused = tools.filter(({ way }) => way === "none").map(({ name }) => name);
    expect([seed, named.sort()]).toEqual([seed, unused.sort()]);
    for (const { server, only } of diet.servers)
      for (const { name, way } of tools.filter((tool) => serverOf(tool.name, [server]) !== undefined)) {
        const own = name.slice(name.lastIndexOf(`${server}__`) + server.length + 2);
        expect([name, permits(only, own)]).toEqual([name, way !== "none"]);
      }
  }
});

test("clients' names for a tool of a server are found, shortened ones too", () => {
  const long = `files__${"long_".repeat(15)}end`;
  expect(isNamed("mcp__weir__files__read", "files__read")).toBe(true);
  expect(isNamed("files__read", "files__read")).toBe(true);
  expect(isNamed("myfiles__read", "files__read")).toBe(false);
  expect(isNamed("files__read_all", "files__read")).toBe(false);
  expect(isNamed(long, long)).toBe(true);
  expect(serverOf("mcp__weir__files__read", ["files"])).toBe("files");
  expect(serverOf("files", ["files"])).toBeUndefined();
});

const LINES = [
  ...["tool look", "  | Looks.", '  {"type":"object"}', "tool spare", "  | Spares.", '  {"type":"object"}'],
  ...[
    "system",
    "  | Be brief.",
    "user",
    "  | Look.",
    "assistant",
    "  call 1: look {}",
    "user",
    "  result of call 1",
    "    | found",
  ],
];
const entry = (lines: string[], options: Record<string, string> = {}): TapeEntry => ({
  ...{ call: 1, operation: "generate", format: "messages", stream: false, status: 200, headers: {} },
  ...{ request: { model: "m", lines, options }, answer: [] },
});
const unused = { tool: "spare", carried: 1, tokens: 1, cost: 1 };
const DIET = { calls: 1, servers: [], clients: [unused], cost: 1 };

test("a tape proves that nothing else changes, and tells where texts and options name a tool", () => {
  expect(proofOf([entry(LINES)], DIET)).toEqual({ requests: 1, same: 1, mentioned: {} });
  const named = LINES.with(7, "  | Use spare at the end.");
  expect(proofOf([entry(named)], DIET)).toEqual({ requests: 1, same: 1, mentioned: { spare: 1 } });
  const forced = entry(LINES, { toolChoice: '{"name":"spare","type":"tool"}' });
  expect(proofOf([forced, entry(LINES.slice(6))], DIET)).toMatchObject({
    requests: 1,
    mentioned: { spare: 1 },
  });
  // A text that looks like a declaration is none.
  const told = [...LINES, "user", "  | tool spare", "  |   Spares."];
  expect(proofOf([entry(told)], DIET)).toMatchObject({ requests: 1, same: 1 });
});

test("people read the list for the config, and what the proof says", () => {
  const servers = [{ server: "files", only: ["read"], unused: [unused], cost: 1_000_000 }];
  const proof = { requests: 41, same: 41, mentioned: { spare: 2 } };
  const text = textOf({ calls: 41, servers, clients: [], cost: 1_000_000, proof });
  expect(text).toContain("never used in 41 calls of the tape; their definitions cost $0.001");
  expect(text).toContain('tools.servers.files.only: ["read"]');
  expect(text).toContain("41 of 41 requests differ in nothing but the declarations.");
  expect(text).toContain("Texts of requests name spare (2).");
  expect(textOf({ calls: 0, servers: [], clients: [], cost: 0 })).toBe(
    "no tool of 0 calls of the tape is unused",
  );
});
