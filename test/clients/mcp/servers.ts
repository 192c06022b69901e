/**
 * Three published servers that are programs, directly and through weir: what they list is the same for clients of both eras,
 * answers of many calls at once reach those who asked, and what one key stores no other one sees.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { cacheFolder, installPackages, NODE, nodeIn } from "../../conformance/mcp/install.ts";
import { legacyPeer, type Members, modernPeer, type Peer, type Respond } from "../../conformance/mcp/peer.ts";
import { markdownTable, ROOT, withPart } from "../../helpers/documents.ts";
import { startGateway, TARGET } from "../../helpers/gateway.ts";

const README = "test/clients/README.md";
const VERSION = "2026.8.31";
const NAMES = ["everything", "filesystem", "memory"] as const;

/** Calls of the flood, and how many run at once. */
const CALLS = 1_000;
const AT_ONCE = 50;
/** Turns of two keys. */
const TURNS = 200;

const LISTS = [
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
] as const;

const KEYS = { alice: "key-of-alice-0123456789", bob: "key-of-bob-0123456789" };
const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };

const place = cacheFolder(`mcp servers ${VERSION}`);
const scratch = await mkdtemp(join(tmpdir(), "weir-mcp-servers-"));
const respond: Respond = (method) => (method === "roots/list" ? { roots: [] } : { action: "decline" });

/** What a program lists when it is asked over its own input and output. */
async function direct(command: readonly string[]): Promise<Peer> {
  const child = Bun.spawn([...command], { cwd: scratch, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const waiting = new Map<number, (message: { result?: Members; error?: { message: string } }) => void>();
  const write = (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    void child.stdin.flush();
  };
  void (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines.filter((one) => one.startsWith("{"))) {
        const message = JSON.parse(line) as { id?: number; method?: string; result?: Members };
        if (message.method === undefined) waiting.get(message.id!)?.(message);
        else if (message.id !== undefined) write({ id: message.id, result: respond(message.method, {}) });
      }
    }
  })();
  let next = 0;
  const request = async (method: string, params: Members = {}) => {
    const id = next++;
    const { promise, resolve } = Promise.withResolvers<{ result?: Members; error?: { message: string } }>();
    waiting.set(id, resolve);
    write({ id, method, params });
    const { result, error } = await promise;
    if (!result) throw new Error(error?.message);
    return result;
  };
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: CAPABILITIES,
    clientInfo: { name: "peer", version: "1.0.0" },
  });
  write({ method: "notifications/initialized" });
  // Servers may offer more once they know the client.
  await Bun.sleep(500);
  return {
    request,
    async close() {
      child.kill();
      await child.exited;
    },
  };
}

/** All lists of a server; a method that it does not know lists nothing. */
async function listsOf(peer: Peer): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [method, member] of LISTS)
    found[member] = await peer.request(method).then(
      (result) => result[member],
      () => undefined,
    );
  return found;
}

function commandOf(name: (typeof NAMES)[number]): string[] {
  const program = join(place, "node_modules/@modelcontextprotocol", `server-${name}`, "dist/index.js");
  return [nodeIn(place), program, ...(name === "filesystem" ? [scratch] : [])];
}

const textOf = (result: Members) => String((result["content"] as Members[])[0]?.["text"]);

/** @returns how many answers were those of their own calls */
async function flood(peer: Peer): Promise<number> {
  let next = 0;
  let right = 0;
  const work = async () => {
    while (next < CALLS) {
      const mark = `mark ${next++}`;
      const result = await peer.request("tools/call", { name: "echo", arguments: { message: mark } });
      if (textOf(result) === `Echo: ${mark}`) right++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return right;
}

/** Two keys store things in turns. @returns how many of the things that a key read were its own, and how many were not */
async function remember(peers: Record<keyof typeof KEYS, Peer>): Promise<{ own: number; foreign: number }> {
  const names = Object.keys(KEYS) as (keyof typeof KEYS)[];
  for (let turn = 0; turn < TURNS; turn++) {
    const whose = names[turn % 2]!;
    const entities = [{ name: `${whose}-${turn}`, entityType: "thing", observations: [] }];
    await peers[whose].request("tools/call", { name: "create_entities", arguments: { entities } });
  }
  const count = { own: 0, foreign: 0 };
  for (const whose of names) {
    const read = await peers[whose].request("tools/call", { name: "read_graph", arguments: {} });
    for (const found of textOf(read).matchAll(/"name": *"(\w+)-\d+"/g))
      count[found[1] === whose ? "own" : "foreign"]++;
  }
  return count;
}

await installPackages(place, [
  NODE,
  ...NAMES.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`),
]);
const gateway = await startGateway({
  config: {
    tools: {
      servers: Object.fromEntries(
        NAMES.map((name) => [
          name,
          {
            ...{ command: commandOf(name), allow: ["*"] },
            ...(name === "memory" && { env: { MEMORY_FILE_PATH: "{folder}/memory.jsonl" } }),
          },
        ]),
      ),
    },
  },
  env: {
    WEIR_API_KEYS: Object.entries(KEYS)
      .map(([name, key]) => `${name}:${key}`)
      .join(","),
  },
  target: TARGET === "source" ? "process" : TARGET,
});
const optionsFor = (name: string, key: string) => ({
  ...{ url: `${gateway.url}/mcp/${name}`, headers: { authorization: `Bearer ${key}` } },
  ...{ capabilities: CAPABILITIES, respond },
});
let failed = 0;
const rows: string[][] = [];
try {
  for (const name of NAMES) {
    const program = await direct(commandOf(name));
    const wanted = await listsOf(program);
    await program.close();
    const row = [
      name,
      LISTS.map(([, member]) => (wanted[member] as unknown[] | undefined)?.length ?? 0).join(", "),
    ];
    for (const open of [legacyPeer, modernPeer]) {
      const peer = await open(optionsFor(name, KEYS.alice));
      const found = await listsOf(peer);
      await peer.close();
      const differing = LISTS.map(([, member]) => member).filter(
        (member) => !isDeepStrictEqual(found[member] ?? [], wanted[member] ?? []),
      );
      failed += differing.length;
      row.push(differing.length === 0 ? "equal" : `differs: ${differing.join(", ")}`);
      if (differing.length > 0)
        for (const member of differing)
          console.error(
            name,
            member,
            JSON.stringify(found[member])?.slice(0, 600),
            "\nWANTED",
            JSON.stringify(wanted[member])?.slice(0, 600),
          );
    }
    rows.push(row);
  }
  const everything = await legacyPeer(optionsFor("everything", KEYS.alice));
  const started = performance.now();
  const right = await flood(everything);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  await everything.close();
  const peers = {
    alice: await legacyPeer(optionsFor("memory", KEYS.alice)),
    bob: await legacyPeer(optionsFor("memory", KEYS.bob)),
  };
  const { own, foreign } = await remember(peers);
  await Promise.all(Object.values(peers).map((peer) => peer.close()));
  if (right !== CALLS || own !== TURNS || foreign !== 0) failed++;
  const text = [
    `Published servers, version ${VERSION}, as programs:`,
    markdownTable(
      ["server", "tools, resources, templates, prompts", "list for a legacy client", "for a modern one"],
      rows,
    ),
    `Of ${CALLS} calls with marked arguments, ${AT_ONCE} at once, ${right} got their own answer, in ${seconds} s. Two keys stored ${TURNS} things in turns in \`memory\`: each read ${own / 2} of its own and ${foreign} of the other's.`,
  ].join("\n\n");
  console.log(text);
  await Bun.write(join(ROOT, README), withPart(README, "mcp-servers", text));
} finally {
  await gateway.stop();
  await rm(scratch, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;
