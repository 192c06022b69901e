/** A feature with a table whose rows every worker holds, for tests: names of people. The test copies this file to a copy of the source. */
import type { Channel } from "../../src/core/channel.ts";
import type { Replica } from "../../src/core/replica.ts";
import type { Feature } from "../../src/feature/feature.ts";
import type { Entry, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import type { FeatureTables, KeeperHost, KeeperPart } from "../../src/keeper/seams.ts";
import { commandIn, reportError } from "./commanded.ts";

/** What a client commands by the text of a message, as JSON. */
export type Command = { show: true } | { set: Record<string, string | null> } | { refuse: string };

/** What it reads in the message of an error. */
export interface Report {
  worker: number;
  isComplete: boolean;
  isCurrent: boolean;
  rows: { id: string; name: string }[];
  /** Ids of which the part has heard, without repetitions. */
  heard: string[];
}

export const TABLES: FeatureTables = {
  migrations: [
    `CREATE TABLE roster_people (id TEXT PRIMARY KEY, name TEXT NOT NULL, version {INT} NOT NULL, deleted_at {INT}) {KEYED};
     CREATE INDEX roster_people_version ON roster_people (version);`,
  ],
  copied: ["roster_people"],
  recovered: ["roster_people"],
  replicas: ["roster_people"],
};

export const roster: Feature = {
  name: "roster",
  tables: async () => ({ tables: TABLES }),
  worker: async () => ({ start: (host) => new RosterWorker(host) }),
  keeper: async () => ({ start: (host) => new RosterKeeper(host) as KeeperPart }),
};

class RosterWorker implements WorkerPart {
  readonly #people: Replica<{ id: string; name: string }>;
  readonly #channel: Channel<Command, never>;
  readonly #heard = new Set<string>();

  constructor(host: WorkerHost) {
    this.#channel = host.channel();
    this.#people = host.replica("roster_people");
    this.#people.listen((ids) => ids.forEach((id) => this.#heard.add(id)));
  }

  seams() {
    return { around: { at: "guard" as const, run: (entry: Entry) => this.#do(entry) } };
  }

  async #do(entry: Entry): Promise<never> {
    const command = commandIn<Command>(entry);
    if (!("show" in command)) this.#channel.send(command);
    const { isComplete, isCurrent } = this.#people;
    const report: Report = {
      ...{ worker: process.pid, isComplete, isCurrent },
      ...{ rows: [...this.#people.values()].slice(0, 20), heard: [...this.#heard].slice(0, 20) },
    };
    throw reportError(report);
  }
}

class RosterKeeper implements KeeperPart<Command, never> {
  constructor(private readonly host: KeeperHost) {}

  connect() {
    return { receive: (command: Command) => void this.#do(command), ended() {} };
  }

  async #do(command: Command): Promise<void> {
    if ("set" in command)
      for (const [id, name] of Object.entries(command.set)) await changePerson(this.host, id, name);
    if ("refuse" in command)
      await changePerson(this.host, command.refuse, "refused", true).catch((cause: Error) =>
        this.host.report(`planted: ${cause.message}`),
      );
  }
}

/** @param name null deletes @param fails throws after the row is written */
export function changePerson(
  host: KeeperHost,
  id: string,
  name: string | null,
  fails = false,
): Promise<void> {
  return host.change({ actor: "test" }, "set", `roster/${id}`, async (sql, version) => {
    await sql.run(
      `INSERT INTO roster_people (id, name, version, deleted_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id)
       DO UPDATE SET name = excluded.name, version = excluded.version, deleted_at = excluded.deleted_at`,
      [id, name ?? "", version, name === null ? 1 : null],
    );
    if (fails) throw new Error("the work failed");
    return { before: null, after: { name } };
  });
}
