/** The link to the keeper carries answers and books beside each other. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { KeeperClient } from "../../src/keeper/client.ts";
import { Keeper } from "../../src/keeper/keeper.ts";
import type { KeeperPart } from "../../src/keeper/seams.ts";
import type { LinkEvents } from "../../src/keeper/link.ts";
import type { ToKeeper } from "../../src/keeper/protocol.ts";
import { answerOf, PATIENT_MS } from "./suite.ts";

setDefaultTimeout(120_000);

function fakeLink() {
  const sent: ToKeeper[] = [];
  const link: { events?: LinkEvents } = {};
  const client = new KeeperClient((events) => {
    link.events = events;
    return { send: (message) => void sent.push(message), close: async () => {} };
  });
  return { client, sent, events: () => link.events! };
}

test("messages about books and requests for answers share a link and do not meet", async () => {
  const { client, sent, events } = fakeLink();
  const heard: unknown[] = [];
  client.books.listen({
    up: () => heard.push("up"),
    down: () => heard.push("down"),
    message: (message) => heard.push(message),
  });
  const put = client.answers.put(answerOf("a"), PATIENT_MS);
  client.books.send({ kind: "return", account: "b:one@0", amount: 1 });
  void client.start();
  expect(sent).toEqual([]);
  events().up();
  client.books.send({ kind: "return", account: "b:one@0", amount: 2 });
  expect(
    sent.map((message) => ("books" in message ? message.books : "ask" in message && message.ask.op)),
  ).toEqual(["put", { kind: "return", account: "b:one@0", amount: 2 }]);
  events().receive({ books: { kind: "stored", seq: 3 } });
  events().receive({ number: 1, value: "stored" });
  expect(await put).toBe("stored");
  events().down();
  client.books.send({ kind: "return", account: "b:one@0", amount: 3 });
  expect(sent.length).toBe(2);
  expect(heard).toEqual(["up", { kind: "stored", seq: 3 }, "down"]);
  expect(client.books.isUp).toBe(false);
  await client.close();
});

test("messages of features reach the part of their name, in both directions", async () => {
  const { client, sent, events } = fakeLink();
  const heard: unknown[] = [];
  const hear = (name: string) =>
    client.channel<number, number>(name).listen({
      up: () => heard.push(`${name} up`),
      down: () => heard.push(`${name} down`),
      message: (message) => heard.push([name, message]),
    });
  hear("one");
  hear("two");
  void client.start();
  events().up();
  client.channel<number, number>("two").send(2);
  expect(sent).toEqual([{ feature: "two", message: 2 }]);
  events().receive({ feature: "two", message: 3 });
  events().receive({ feature: "unknown", message: 4 });
  events().down();
  expect(heard).toEqual(["one up", "two up", ["two", 3], "one down", "two down"]);
  await client.close();
});

test("the keeper passes messages to its part of a feature, and ignores those of features that it lacks", async () => {
  const heard: unknown[] = [];
  const echo: KeeperPart = {
    connect: (send) => ({
      receive: (message) => (heard.push(message), send("heard")),
      ended: () => void heard.push("ended"),
    }),
  };
  // The code of the parts is still being loaded when the first messages come.
  const parts = Promise.withResolvers<ReadonlyMap<string, KeeperPart>>();
  const keeper = new Keeper(
    {},
    parts.promise.then((all) => ({ parts: all })),
  );
  const told: unknown[] = [];
  const worker = keeper.connect((message) => void told.push(message));
  worker.receive({ feature: "unknown", message: 1 });
  worker.receive({ feature: "echo", message: 2 });
  worker.receive({ feature: "echo", message: 3 });
  parts.resolve(new Map([["echo", echo]]));
  worker.ended();
  await keeper.close();
  expect(heard).toEqual([2, 3, "ended"]);
  expect(told).toEqual([
    { hello: true },
    { feature: "echo", message: "heard" },
    { feature: "echo", message: "heard" },
  ]);
});

test("a receiver that comes after the connection hears that it is open", () => {
  const { client, events } = fakeLink();
  void client.start();
  events().up();
  const heard: string[] = [];
  client.books.listen({ up: () => heard.push("up"), down: () => {}, message: () => {} });
  expect(heard).toEqual(["up"]);
});

test("the opening of the store ends with the keeper's sentence", async () => {
  const { client, events } = fakeLink();
  void client.start();
  events().up();
  events().receive({ books: { kind: "store", fault: "weir.db is damaged" } });
  expect(await client.storeOpened()).toBe("weir.db is damaged");
});

test("a keeper that has ended, or whose store cannot be used, counts as degraded until it is back", () => {
  const { client, events } = fakeLink();
  void client.start();
  const states = [client.isDegraded];
  const then = (change: () => void) => {
    change();
    states.push(client.isDegraded);
  };
  then(() => events().up());
  then(() => events().receive({ books: { kind: "store", fault: "the disk is full" } }));
  then(() => events().receive({ books: { kind: "store" } }));
  then(() => events().down());
  then(() => events().up());
  expect(states).toEqual([false, false, true, false, true, false]);
});
