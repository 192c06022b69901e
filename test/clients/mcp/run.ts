/**
 * Pairs the libraries of the Model Context Protocol with each other, directly and through weir: each client lists tools, calls
 * one, hears progress, is asked, cancels, and gets an error, at a server of each library. The README of the folder above says more.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listening } from "../../conformance/mcp/references.ts";
import { markdownTable, ROOT, withPart } from "../../helpers/documents.ts";
import { type RunningGateway, startGateway, TARGET } from "../../helpers/gateway.ts";
import { freePort } from "../../helpers/serving.ts";
import { runProgram } from "../programs.ts";
import { FOLDER, type Sdk, SDKS } from "./sdks.ts";

/** The process of the tools needs a gateway with a process of its own. */
const ALONE = TARGET === "source" ? "process" : TARGET;

const README = "test/clients/README.md";
const CHECKS = ["list", "call", "progress", "elicitation", "cancel", "error"] as const;

/** What a client may take for its six checks, in milliseconds. */
const PATIENCE_MS = 60_000;
/** How long a server may take to notice that a call was cancelled, in milliseconds. The client stays a little longer. */
const NOTICE_MS = 1_000;

const { values: options } = parseArgs({
  options: {
    client: { type: "string", default: "" },
    server: { type: "string", default: "" },
    direct: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

interface Ready extends Sdk {
  readonly command: readonly string[];
}

interface Serving extends Ready {
  readonly url: string;
  /** The marks of the calls that it noticed were cancelled, one a line. */
  readonly cancelled: string;
  stop(): void;
}

const home = await mkdtemp(join(tmpdir(), "weir-mcp-clients-"));
const ready: Ready[] = [];
for (const sdk of SDKS) {
  console.error(`installs ${sdk.name}`);
  ready.push({ ...sdk, command: await sdk.prepare(FOLDER) });
}
const servers: Serving[] = [];
/** Milliseconds until servers noticed that calls were cancelled. */
const notices: number[] = [];
try {
  for (const sdk of ready.filter(({ server }) => server.includes(options.server)))
    servers.push(await serve(sdk));
  process.exitCode = await pairAll();
} finally {
  for (const server of servers) server.stop();
  await rm(home, { recursive: true, force: true });
}

/** @returns the exit code */
async function pairAll(): Promise<number> {
  const gateway = options.direct ? undefined : await startWeir();
  const rows: string[][] = [];
  const held = { direct: 0, through: 0 };
  try {
    for (const client of ready.filter(({ server }) => server.includes(options.client))) {
      const row = [client.name];
      for (const server of servers) {
        const direct = await pair(client, server, server.url);
        const through = gateway ? await pair(client, server, `${gateway.url}/mcp/${server.server}`) : [];
        held.direct += direct.length;
        held.through += through.length;
        row.push(`${direct.length}, ${through.length}`);
        console.error(
          `${client.name} at ${server.name}: directly ${direct.length}, through weir ${through.length}`,
        );
      }
      rows.push(row);
    }
  } finally {
    await gateway?.stop();
  }
  const all = rows.length * servers.length * CHECKS.length;
  const table = [
    `Checks that hold, of ${CHECKS.length} a pair: directly, and through weir. In all ${held.direct} and **${held.through}** of ${all}.`,
    `Servers noticed that a call was cancelled within ${Math.max(0, ...notices)} ms.`,
    "",
    markdownTable(["client at server", ...servers.map(({ name }) => name)], rows),
  ].join("\n");
  console.log(table);
  if (rows.length === SDKS.length && servers.length === SDKS.length && !options.direct)
    await Bun.write(join(ROOT, README), withPart(README, "mcp-pairs", table));
  return held.through === all ? 0 : 1;
}

function startWeir(): Promise<RunningGateway> {
  const list = servers.map(({ server, url, era = "auto" }) => [server, { url, era, allow: ["*"] }]);
  return startGateway({ target: ALONE, config: { tools: { servers: Object.fromEntries(list) } } });
}

async function serve(sdk: Ready): Promise<Serving> {
  const port = freePort();
  const cancelled = join(home, `cancelled-${sdk.server}`);
  const child = Bun.spawn([...sdk.command, "serve", String(port), cancelled], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: options.verbose ? "inherit" : "ignore",
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await listening(url);
  return { ...sdk, url, cancelled, stop: () => child.kill() };
}

interface Line {
  check?: string;
  ok?: boolean;
  saw?: string;
  /** When the client had cancelled, in milliseconds. */
  cancelled?: number;
}

/** @returns the checks that hold */
async function pair(client: Ready, { cancelled, name }: Serving, url: string): Promise<string[]> {
  const mark = crypto.randomUUID();
  const { said } = await runProgram(
    { command: [...client.command, "call", url, mark] },
    { home, cwd: home, patience: PATIENCE_MS },
  );
  const lines = said.split("\n").flatMap((line): Line[] => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
  const held: string[] = [];
  const notice = noticeOf(cancelled, mark, lines.find((one) => one.cancelled)?.cancelled ?? 0);
  for (const check of CHECKS) {
    const line = lines.find((one) => one.check === check);
    const isHeld = line?.ok && (check !== "cancel" || notice <= NOTICE_MS);
    if (isHeld) held.push(check);
    else if (options.verbose)
      console.error(
        `${client.name} at ${name} (${url}), ${check}: ${line?.saw || `the server noticed after ${notice} ms`}`,
      );
  }
  if (Number.isFinite(notice)) notices.push(notice);
  if (options.verbose && lines.length === 0) console.error(said.slice(-1_500));
  return held;
}

/** Milliseconds after which the server noticed that the call with the mark was cancelled. */
function noticeOf(file: string, mark: string, since: number): number {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const at = lines.find((line) => line.startsWith(mark))?.split(" ")[1];
  return at === undefined ? Number.POSITIVE_INFINITY : Number(at) - since;
}
