/** Rows of features' tables that workers hold: lost messages, a store that lost rows, workers that come late. */
import { expect, test } from "bun:test";
import type { Channel, ChannelEvents } from "../../src/core/channel.ts";
import { Replicas } from "../../src/keeper/books/replicas.ts";
import type { ReplicaDown, ReplicaUp } from "../../src/keeper/replica-messages.ts";
import { ReplicaViews } from "../../src/keeper/replica-views.ts";
import type { Sql, SqlRow } from "../../src/keeper/store/sql.ts";
import { TABLES } from "../helpers/roster.ts";

/** A store with one table, whose rows a test changes. */
class Table {
  readonly rows = new Map<string, SqlRow>();
  version = 0;
  fault: Error | undefined;

  set(id: string, name: string | null): void {
    const version = ++this.version;
    this.rows.set(id, { id, name: name ?? "", version, deleted_at: name === null ? 1 : null });
  }

  readonly read = async <Value>(report: (sql: Sql) => Promise<Value>): Promise<Value> => {
    if (this.fault) throw this.fault;
    const all = async (text: string, [since = -1]: readonly unknown[] = []) => {
      const rows = [...this.rows.values()].filter((row) => Number(row["version"]) > Number(since));
      const live = rows.filter((row) => row["deleted_at"] === null);
      // PostgreSQL returns the sum of integers as a text.
      const versions =
        live.length === 0 ? null : `${live.reduce((sum, row) => sum + Number(row["version"]), 0)}`;
      if (text.includes("COUNT")) return [{ rows: live.length, versions }];
      return rows.toSorted((one, other) => Number(one["version"]) - Number(other["version"]));
    };
    return report({ all } as unknown as Sql);
  };
}

/** A worker whose messages a test can lose. */
function connect(replicas: Replicas) {
  let events: ChannelEvents<ReplicaDown> | undefined;
  let drops = 0;
  const sent: ReplicaDown[] = [];
  const asked: string[] = [];
  const connection = replicas.connect((message) => {
    sent.push(message);
    if (drops-- > 0) return;
    drops = 0;
    events?.message(message);
  });
  const channel: Channel<ReplicaUp, ReplicaDown> = {
    isUp: true,
    send(message) {
      asked.push(message.all);
      connection.receive(message);
    },
    listen: (given) => {
      events = given;
      given.up();
    },
  };
  const views = new ReplicaViews(channel);
  const view = views.of<{ id: string; name: string }>("roster_people");
  const shown = () =>
    [...view.values()]
      .map(({ id, name }) => `${id}=${name}`)
      .toSorted()
      .join(" ");
  return { view, shown, sent, asked, lose: (count: number) => (drops = count), down: () => events!.down() };
}

function open() {
  const table = new Table();
  const faults: string[] = [];
  const named = [{ feature: "roster", tables: TABLES }];
  const replicas = new Replicas(named, table.read, (sentence) => faults.push(sentence));
  return { table, replicas, faults };
}

test("a worker that connects before the store is open gets all rows once it is", async () => {
  const { table, replicas } = open();
  table.set("a", "Anna");
  const worker = connect(replicas);
  expect([worker.view.isComplete, worker.view.isCurrent, worker.shown()]).toEqual([false, false, ""]);
  await replicas.refresh();
  expect([worker.view.isComplete, worker.view.isCurrent, worker.shown()]).toEqual([true, true, "a=Anna"]);
  const late = connect(replicas);
  expect(late.shown()).toBe("a=Anna");
  expect(late.view.get("a")).toEqual({ id: "a", name: "Anna" });
});

test("changes are sent alone, and what has not changed is not sent", async () => {
  const { table, replicas } = open();
  await replicas.refresh();
  const worker = connect(replicas);
  const heard: string[] = [];
  worker.view.listen((ids) => heard.push(ids.join()));
  table.set("a", "Anna");
  table.set("b", "Bea");
  await replicas.refresh();
  await replicas.refresh();
  table.set("a", null);
  await replicas.refresh();
  expect(worker.shown()).toBe("b=Bea");
  expect(heard).toEqual(["a,b", "a"]);
  expect(worker.sent.map(({ isAll, rows, deleted }) => [isAll, rows.length, deleted.length])).toEqual([
    [true, 0, 0],
    [undefined, 2, 0],
    [undefined, 0, 1],
  ]);
});

test("a lost message is noticed with the next one, and healed by one question", async () => {
  const { table, replicas } = open();
  await replicas.refresh();
  const worker = connect(replicas);
  const before = worker.asked.length;
  worker.lose(2);
  table.set("a", "Anna");
  await replicas.refresh();
  table.set("b", "Bea");
  await replicas.refresh();
  expect(worker.shown()).toBe("");
  table.set("c", "Cleo");
  await replicas.refresh();
  expect(worker.asked.length - before).toBe(1);
  expect([worker.shown(), worker.view.isCurrent]).toEqual(["a=Anna b=Bea c=Cleo", true]);
});

test("rows that the store has lost or has older go from the workers too", async () => {
  const { table, replicas } = open();
  table.set("a", "Anna");
  table.set("b", "Bea");
  await replicas.refresh();
  const worker = connect(replicas);
  const heard: string[] = [];
  worker.view.listen((ids) => heard.push(ids.join()));
  table.rows.delete("a");
  await replicas.refresh();
  expect(worker.shown()).toBe("b=Bea");
  expect(heard).toEqual(["b,a"]);
  table.set("b", "Beatrix");
  await replicas.refresh();
  expect(worker.shown()).toBe("b=Beatrix");
  table.rows.set("b", { id: "b", name: "Bea", version: 2, deleted_at: null });
  await replicas.refresh();
  expect(worker.shown()).toBe("b=Bea");
});

test("a worker without the keeper keeps its rows, and says that they may be old", async () => {
  const { table, replicas, faults } = open();
  table.set("a", "Anna");
  await replicas.refresh();
  const worker = connect(replicas);
  worker.down();
  expect([worker.view.isComplete, worker.view.isCurrent, worker.shown()]).toEqual([true, false, "a=Anna"]);
  table.fault = new Error("the store is away");
  expect(replicas.refresh()).rejects.toThrow("the store is away");
  expect(faults).toEqual(["the rows of roster_people cannot be read: the store is away"]);
  table.fault = undefined;
  table.set("b", "Bea");
  await replicas.refresh();
  expect(worker.asked.length).toBe(1);
});
