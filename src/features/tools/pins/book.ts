/** Pins in the store: what servers listed first, what has changed since, and what operators approve. */
import type { Sql } from "../../../keeper/store/sql.ts";
import type { ChangeRows, KeeperHost } from "../../../keeper/seams.ts";
import type { Actor } from "../../../keeper/store/store.ts";
import type { SeenList } from "../messages.ts";
import { nameOf, pinOf } from "./canonical.ts";
import { changesIn, pinsOf, type ServerPins } from "./compare.ts";
import { type WrittenPins, writePinFile } from "./pin-file.ts";
import {
  isPending,
  pendingTool,
  readPins,
  readTools,
  type StoredTool,
  type ToolHead,
  writePins,
  writeTools,
} from "./rows.ts";
import { visibleName } from "./visible.ts";

/** The actor of entries that weir makes by itself. */
const SELF: Actor = { actor: "tools" };
const PENDING = ["new", "changed", "gone"] as const;
/** Names in one sentence of the log. */
const MOST_NAMES = 10;

/** What waits for an operator, or the file of pins, is not what the operator has seen. */
export class PinsChanged extends Error {
  override readonly name = "PinsChanged";
}

export interface Approved {
  readonly server: string;
  /** `new search`. */
  readonly changes: readonly string[];
  /** Pins are in a file: what became of it. */
  readonly file?: WrittenPins;
}

type Host = Pick<KeeperHost, "change" | "read" | "write" | "report" | "settled" | "note">;

export class PinsBook {
  readonly #host: Host;
  readonly #now: () => number;
  /** Changes of the file, one after another. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(host: Host, now: () => number = Date.now) {
    this.#host = host;
    this.#now = now;
  }

  /** Takes what a server listed. The first list is approved as a whole, unless a file says what is approved. */
  async see({ server, definitions, mode, pins: declared }: SeenList): Promise<void> {
    const first = (state: "approved" | "seen") => firstOfNames(server, definitions, state, this.#now());
    if (mode === "off") return this.#host.write((sql) => writeTools(sql, server, ["seen"], first("seen")));
    if (declared) return this.#compare(server, definitions, declared);
    const pins = await this.#host.read((sql) => readPins(sql, server));
    if (pins) return this.#compare(server, definitions);
    await this.#host.change(SELF, "pin tools", `tools/${server}`, async (sql, version) => {
      // Another node may have seen another list in the meantime.
      const known = await readPins(sql, server);
      if (known) return { before: null, after: null };
      await writePins(sql, server, pinsOf(definitions), version);
      await writeTools(sql, server, ["seen"], []);
      await writeTools(sql, server, ["approved"], first("approved"));
      return { before: null, after: { tools: Object.keys(pinsOf(definitions)).length } };
    });
  }

  /** Replaces what waits for an operator by what this list differs in. */
  async #compare(server: string, definitions: SeenList["definitions"], declared?: ServerPins): Promise<void> {
    const added = await this.#host.write(async (sql) => {
      const pins = declared ?? (await readPins(sql, server)) ?? {};
      const tools = await readTools(sql, server);
      if (declared) await this.#keepDeclared(sql, server, definitions, declared, tools);
      const waiting = tools.filter(isPending);
      const before = new Map(waiting.map((one) => [entryOf(one), one]));
      const found = changesIn(definitions, pins).map((change) => {
        const hash = change.definition ? pinOf(change.definition) : "";
        const one = pendingTool(server, change, hash, this.#now());
        return before.get(entryOf(one)) ?? one;
      });
      if (digestOf(found) === digestOf(waiting)) return [];
      await writeTools(sql, server, PENDING, found);
      return found.filter((one) => one.state !== "gone" && !before.has(entryOf(one)));
    });
    if (added.length > 0) this.#host.report(changedSentence(server, added));
  }

  /** Keeps the definitions of what a file approves, as far as they were ever listed: differences are shown against them. */
  async #keepDeclared(
    sql: Sql,
    server: string,
    definitions: SeenList["definitions"],
    declared: ServerPins,
    tools: readonly StoredTool[],
  ): Promise<void> {
    const isApproved = ({ tool, hash }: ToolHead) => Object.hasOwn(declared, tool) && declared[tool] === hash;
    const before = tools.filter((one) => one.state === "approved");
    const known = new Map(before.filter(isApproved).map((one) => [one.tool, one]));
    for (const one of firstOfNames(server, definitions, "approved", this.#now()))
      if (isApproved(one) && !known.has(one.tool)) known.set(one.tool, one);
    if (known.size === before.length && before.every((one) => known.get(one.tool) === one)) return;
    await writeTools(sql, server, ["seen"], []);
    await writeTools(sql, server, ["approved"], [...known.values()]);
  }

  /**
   * Approves what waits.
   * @param digest of what the operator has seen @param only names of the tools; default: all
   * @throws PinsChanged if something else waits
   */
  async approve(actor: Actor, server: string, digest: string, only?: readonly string[]): Promise<Approved> {
    let changes: string[] = [];
    const work: ChangeRows = async (sql, version) => {
      const tools = await readTools(sql, server);
      const chosen = chosenOf(tools, digest, only);
      changes = chosen.map(changeOf);
      const before = (await readPins(sql, server)) ?? {};
      await writePins(sql, server, withChosen(before, chosen), version);
      await this.#writeTools(sql, server, tools, chosen);
      const hashes = (pins: ServerPins) => hashesOf(pins, chosen);
      return { before: hashes(before), after: hashes((await readPins(sql, server)) ?? {}) };
    };
    await this.#host.change(actor, "approve tools", `tools/${server}`, work);
    return { server, changes };
  }

  /** The same in a file, whose readers take it over by themselves. @throws PinsChanged */
  approveIn(
    file: string,
    actor: Actor,
    server: string,
    digest: string,
    only?: readonly string[],
  ): Promise<Approved> {
    const work = async (): Promise<Approved> => {
      const chosen = chosenOf(await this.#host.read((sql) => readTools(sql, server)), digest, only);
      const written = await writePinFile(file, server, (before) => withChosen(before, chosen)).catch(
        (cause: unknown) => {
          throw new PinsChanged((cause as Error).message);
        },
      );
      const approved = { server, changes: chosen.map(changeOf), file: written };
      if (written.fault !== undefined) return approved;
      await this.#host.write(async (sql) =>
        this.#writeTools(sql, server, await readTools(sql, server), chosen),
      );
      const hashes = hashesOf(withChosen({}, chosen), chosen);
      await this.#host.note(actor, "approve tools", `tools/${server}`, { file, hashes });
      return approved;
    };
    const next = this.#line.then(work);
    this.#line = next.catch(() => {});
    return next;
  }

  async #writeTools(
    sql: Sql,
    server: string,
    tools: readonly StoredTool[],
    chosen: readonly StoredTool[],
  ): Promise<void> {
    const names = new Set(chosen.map(({ tool }) => tool));
    const taken = chosen.filter(({ state }) => state !== "gone");
    const since = this.#now();
    await writeTools(
      sql,
      server,
      ["approved"],
      [
        ...tools.filter(({ state, tool }) => state === "approved" && !names.has(tool)),
        ...taken.map((one) => ({ ...one, state: "approved" as const, since })),
      ],
    );
    await writeTools(
      sql,
      server,
      PENDING,
      tools.filter((one) => isPending(one) && !names.has(one.tool)),
    );
  }

  /** Whether all workers have taken over what was approved. */
  settled(): Promise<boolean> {
    return this.#host.settled();
  }
}

/** What an operator has seen of the tools that wait: an approval names it. */
export function digestOf(tools: readonly ToolHead[]): string {
  const entries = tools.filter(isPending).map(entryOf).sort();
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(entries)).digest("hex").slice(0, 32);
}

/** What of the tools that wait is approved. @throws PinsChanged */
function chosenOf(
  tools: readonly StoredTool[],
  digest: string,
  only: readonly string[] | undefined,
): StoredTool[] {
  const waiting = tools.filter(isPending);
  if (digestOf(waiting) !== digest) throw new PinsChanged("other tools wait than those that were shown");
  const chosen = waiting.filter(({ tool }) => only?.includes(tool) ?? true);
  const missing = only?.find((name) => !chosen.some(({ tool }) => tool === name));
  if (missing !== undefined) throw new PinsChanged(`no tool ${visibleName(missing)} waits`);
  return chosen;
}

const changeOf = ({ state, tool }: ToolHead) => `${state} ${visibleName(tool)}`;

function withChosen(before: ServerPins, chosen: readonly ToolHead[]): ServerPins {
  const pins = new Map(Object.entries(before));
  for (const { tool, hash, state } of chosen)
    if (state === "gone") pins.delete(tool);
    else pins.set(tool, hash);
  return Object.fromEntries(pins);
}

const entryOf = ({ state, tool, hash }: ToolHead) => JSON.stringify([state, tool, hash]);

function firstOfNames(
  server: string,
  definitions: SeenList["definitions"],
  state: "approved" | "seen",
  since: number,
): StoredTool[] {
  const tools = new Map<string, StoredTool>();
  for (const definition of definitions) {
    const tool = nameOf(definition);
    if (!tools.has(tool))
      tools.set(tool, { server, tool, state, hash: pinOf(definition), definition, since });
  }
  return [...tools.values()];
}

function hashesOf(pins: ServerPins, chosen: readonly StoredTool[]): Record<string, string | null> {
  return Object.fromEntries(
    chosen.map(({ tool }) => [visibleName(tool), Object.hasOwn(pins, tool) ? pins[tool]! : null]),
  );
}

function changedSentence(server: string, added: readonly StoredTool[]): string {
  const names = added.slice(0, MOST_NAMES).map(({ tool }) => visibleName(tool).slice(0, 100));
  const more = added.length > MOST_NAMES ? ` and ${added.length - MOST_NAMES} more` : "";
  return `tools: the server ${server} has tools that are new or have changed: ${names.join(", ")}${more}; weir tools approve ${server} shows them`;
}
