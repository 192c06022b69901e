/** `weir tools check [SERVER]`: connects to the servers of the config as a gateway would, without one. */
import type { Context } from "../../../cli/command.ts";
import { configOptions } from "../../../cli/command.ts";
import { table } from "../../../cli/terminal.ts";
import { readConfig } from "../../../config/load.ts";
import type { JsonObject } from "../../../core/json.ts";
import { createTransport } from "../../../http/index.ts";
import { Groups } from "../../../service/groups.ts";
import { VERSION } from "../../../process/version.ts";
import { NeedsUser } from "../auth/credential.ts";
import { Credentials, guardedBy } from "../auth/credentials.ts";
import { revealed } from "../front/revealed.ts";
import { type ApprovedPins, changesIn, type ServerPins } from "../pins/compare.ts";
import { readPinFile } from "../pins/pin-file.ts";
import { visible, visibleName } from "../pins/visible.ts";
import { type ServerConfig, type ToolsConfig, toolsOf } from "../section.ts";
import { Children } from "../servers/stdio/children.ts";
import { connectPrograms } from "../servers/stdio/connect.ts";
import type { Repair } from "../servers/repairs.ts";
import { Server, type Ways } from "../servers/server.ts";
import { tokensOf } from "./tokens.ts";

/** Programs may have to be downloaded. Milliseconds. */
const PATIENCE_MS = 120_000;

const LACKING: Readonly<Record<Repair, string>> = {
  result_type: "its results lack resultType, which weir adds",
  cache_hints: "its lists lack ttlMs and cacheScope, which weir adds",
};

interface Checked {
  readonly server: string;
  readonly ok: boolean;
  readonly era?: string;
  readonly version?: string;
  readonly software?: string;
  readonly tools?: number;
  readonly tokens?: number;
  /** What its results lack. */
  readonly repairs?: readonly Repair[];
  /** Why it cannot be used, or what it needs first, with what is invisible. */
  readonly reason?: string;
}

/** Tools in one reason. */
const MOST_CHANGES = 10;
/** Said of a server that answers only callers with an account, where accounts can be connected. */
const ACCOUNTS = "each caller connects an account of its own there first";

/** @returns 1 if a server cannot be used */
export async function run(context: Context): Promise<number> {
  const {
    words: [wanted],
    flags,
    print,
  } = context;
  const options = toolsOf((await readConfig(configOptions(context))).config);
  const { servers } = options;
  if (wanted !== undefined && !Object.hasOwn(servers, wanted))
    throw new Error(`the config has no server of tools ${visibleName(wanted)}`);
  const chosen = Object.entries(servers).filter(([name]) => wanted === undefined || name === wanted);
  const pins = options.pins === undefined ? undefined : readPinFile(options.pins);
  const programs = new Programs(context.printError, options);
  try {
    const checked = await Promise.all(
      chosen.map(([name, config]) => checkOne(name, revealed(config), programs.ways, pins)),
    );
    if (flags["--json"]) print(JSON.stringify({ servers: checked }, null, 2));
    else print(checked.length === 0 ? "the config has no servers of tools" : shown(checked));
    for (const { server, ok } of checked) if (!ok) programs.printErrors(server);
    return checked.every(({ ok }) => ok) ? 0 : 1;
  } finally {
    await programs.close();
  }
}

async function checkOne(
  name: string,
  config: ServerConfig,
  ways: Ways,
  pins: ApprovedPins | undefined,
): Promise<Checked> {
  const found = await connectTo(name, config, ways, pins);
  if (!found.ok || config.url === undefined) return found;
  // A server that lists its tools for strangers may still have an authorization server that gives its callers nothing.
  const fault = await ways.accountFault?.({ name, config }, config.url);
  return fault === undefined ? found : { server: name, ok: false, reason: visible(fault) };
}

async function connectTo(
  name: string,
  config: ServerConfig,
  ways: Ways,
  pins: ApprovedPins | undefined,
): Promise<Checked> {
  const repairs = new Set<Repair>();
  const repaired = (_: Server, kind: Repair) => void repairs.add(kind);
  const server = new Server(
    name,
    config,
    { heard: () => {}, met: () => {}, listed: () => {}, repaired },
    ways,
  );
  const stop = AbortSignal.timeout(PATIENCE_MS);
  try {
    const client = { capabilities: {}, info: { name: "weir", version: VERSION } };
    const held = await server.hold({ principal: "check", client, era: "modern" }, stop);
    const { era, facts } = held.connection;
    const { name: own, version: release } = facts.info;
    const tools = facts.capabilities["tools"] === undefined ? [] : await held.tools(stop);
    held.release();
    const drift = pins && driftOf(tools, Object.hasOwn(pins, name) ? pins[name]! : {});
    if (drift) return { server: name, ok: false, reason: drift };
    return {
      ...{ server: name, ok: true, era, version: facts.version },
      software: [own, release].filter((one) => typeof one === "string").join(" "),
      tools: tools.length,
      tokens: tools.reduce((sum, one) => sum + tokensOf(one), 0),
      ...(repairs.size > 0 && { repairs: [...repairs] }),
    };
  } catch (thrown) {
    if (thrown instanceof NeedsUser) return { server: name, ok: true, reason: ACCOUNTS };
    return { server: name, ok: false, reason: visible((thrown as Error).message) };
  } finally {
    await server.close();
  }
}

/** What a server lists otherwise than the file of pins has it: a clause. */
function driftOf(tools: readonly JsonObject[], pins: ServerPins): string | undefined {
  const changes = changesIn(tools, pins).map(
    ({ kind, tool }) => `${kind} ${visibleName(tool).slice(0, 100)}`,
  );
  if (changes.length === 0) return undefined;
  const more = changes.length > MOST_CHANGES ? ` and ${changes.length - MOST_CHANGES} more` : "";
  return `its tools are not those of the file of pins: ${changes.slice(0, MOST_CHANGES).join(", ")}${more}`;
}

function shown(checked: readonly Checked[]): string {
  const rows = checked.map(({ server, ok, era = "", version = "", tools, tokens, software = "", reason }) =>
    reason === undefined
      ? [server, "ok", `${era} ${visible(version)}`, String(tools), String(tokens), visible(software)]
      : [server, ok ? "ok" : "failed", reason],
  );
  const HEADS = ["SERVER", "STATE", "ERA", "TOOLS", "TOKENS", "SOFTWARE"];
  const known = rows.filter(({ length }) => length === HEADS.length);
  const others = rows.filter(({ length }) => length !== HEADS.length);
  return [
    ...(known.length > 0 ? [table([HEADS, ...known])] : []),
    ...(others.length > 0 ? [table(others)] : []),
    ...checked.flatMap(({ server, repairs = [] }) => repairs.map((kind) => `${server}: ${LACKING[kind]}`)),
  ].join("\n");
}

/** Programs of servers, which end with the command. */
class Programs {
  readonly #groups = new Groups(() => {});
  readonly #children: Children;
  readonly #printError: (text: string) => void;
  readonly #credentials: Credentials;
  readonly #isStrict: boolean;

  constructor(printError: (text: string) => void, options: ToolsConfig) {
    this.#printError = printError;
    this.#isStrict = options.strict === true;
    this.#credentials = new Credentials({ folder: undefined, fault: printError, info: () => {} });
    this.#credentials.configure({ hosts: [], ...options });
    this.#children = new Children({
      spawn: (command, options) => this.#groups.spawn(command, options),
      folder: () => undefined,
      fault: printError,
      info: () => {},
    });
  }

  get ways(): Ways {
    return {
      program: connectPrograms(this.#children),
      // Connections that are kept would keep the command from ending.
      transport: createTransport(process.env, { idleMs: 1 }),
      isStrict: () => this.#isStrict,
      credential: (server, url, { principal }) => this.#credentials.of(guardedBy(server, url), principal),
      accountFault: (server, url) => this.#credentials.faultWithAnswer(guardedBy(server, url)),
    };
  }

  /** What the programs of a server wrote to their standard errors. */
  printErrors(server: string): void {
    for (const line of this.#children.logs(server).trimEnd().split("\n"))
      if (line !== "") this.#printError(`  ${visible(line)}`);
  }

  async close(): Promise<void> {
    await this.#children.close();
    this.#groups.killAll();
  }
}
