/** The side of a worker: rows of features' tables, as the keeper sends them. */
import type { Channel } from "../core/channel.ts";
import type { Replica } from "../core/replica.ts";
import type { ReplicaDown, ReplicaUp } from "./replica-messages.ts";

/** Texts of rows that are held once: a hundred thousand people have some dozens of roles. */
const MOST_SHARED = 2_000;
const LONGEST_SHARED = 500;

export class ReplicaViews {
  readonly #channel: Channel<ReplicaUp, ReplicaDown>;
  readonly #views = new Map<string, View>();

  constructor(channel: Channel<ReplicaUp, ReplicaDown>) {
    this.#channel = channel;
    channel.listen({
      up: () => {
        for (const table of this.#views.keys()) channel.send({ all: table });
      },
      down: () => {
        for (const view of this.#views.values()) view.isCurrent = false;
      },
      message: (message) => {
        const view = this.#views.get(message.table);
        if (view && !view.take(message)) channel.send({ all: message.table });
      },
    });
  }

  /** The rows of a table. It has none before the keeper has sent them. */
  of<Row>(table: string): Replica<Row> {
    return this.#view(table) as Replica<unknown> as Replica<Row>;
  }

  #view(table: string): View {
    const known = this.#views.get(table);
    if (known) return known;
    const view = new View();
    this.#views.set(table, view);
    if (this.#channel.isUp) this.#channel.send({ all: table });
    return view;
  }
}

class View implements Replica<unknown> {
  isComplete = false;
  isCurrent = false;
  #rows = new Map<string, unknown>();
  #number = 0;
  readonly #texts = new Map<string, string>();
  readonly #listeners: ((ids: readonly string[]) => void)[] = [];

  get(id: string): unknown {
    return this.#rows.get(id);
  }

  values(): Iterable<unknown> {
    return this.#rows.values();
  }

  listen(changed: (ids: readonly string[]) => void): void {
    this.#listeners.push(changed);
  }

  /** The same row: texts that many rows have are one. */
  #shared(row: ReplicaDown["rows"][number]): ReplicaDown["rows"][number] {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== "string" || name === "id" || value.length > LONGEST_SHARED) continue;
      const known = this.#texts.get(value);
      if (known !== undefined) (row as Record<string, unknown>)[name] = known;
      else if (this.#texts.size < MOST_SHARED) this.#texts.set(value, value);
    }
    return row;
  }

  /** @returns whether no message before this one is missing */
  take({ number, isAll, rows, deleted }: ReplicaDown): boolean {
    if (!isAll && (!this.isCurrent || number !== this.#number + 1)) {
      // Of several messages behind a gap, the first one asks.
      const asks = this.isCurrent;
      this.isCurrent = false;
      return !asks;
    }
    const before = this.#rows;
    if (isAll) this.#rows = new Map();
    for (const row of rows) this.#rows.set(row["id"] as string, this.#shared(row));
    for (const id of deleted) this.#rows.delete(id);
    this.#number = number;
    this.isComplete = this.isCurrent = true;
    const gone = isAll ? [...before.keys()].filter((id) => !this.#rows.has(id)) : [];
    const ids = [...rows.map((row) => row["id"] as string), ...deleted, ...gone];
    if (ids.length > 0) for (const changed of this.#listeners) changed(ids);
    return true;
  }
}
