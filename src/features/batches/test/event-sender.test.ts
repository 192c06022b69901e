/** The sender of events over a store: pauses, other nodes, and requests that a process did not survive. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { SendResult } from "../../../http/post.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import { IN_MEMORY } from "../../../keeper/settings.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { tablesOf } from "../../../feature/feature.ts";
import { FEATURES } from "../../../../test/helpers/features.ts";
import { WorldBooks } from "../../identity/test/support/role-world.ts";
import { moved } from "../batch.ts";
import { BatchBook } from "../book.ts";
import { endOf } from "../webhooks/event.ts";
import { noteEnd } from "../webhooks/event-book.ts";
import { EventSender } from "../webhooks/sender.ts";
import { sampleBatch } from "./sample.ts";

const HOUR = 3_600_000;
const WEBHOOK = { url: "https://hooks.example/x?token=t", secret: "any text" };
const OK: SendResult = { kind: "ok", text: "" };
const LATER: SendResult = { kind: "retry", why: "it answers 503", text: "" };

let store: SqlStore;
let host: Pick<KeeperHost, "read" | "write" | "count" | "report">;
let now: number;
const said: string[] = [];
const counted: string[] = [];
const senders: EventSender[] = [];

beforeEach(async () => {
  store = sqliteStore(IN_MEMORY, undefined, await tablesOf(FEATURES));
  await store.open();
  const books = new WorldBooks(store);
  host = {
    read: (work) => books.read(work),
    write: (work) => books.write(work),
    count: (_, [result]) => void counted.push(result!),
    report: (sentence) => void said.push(sentence),
  };
  now = sampleBatch().createdAt + HOUR;
});
afterEach(async () => {
  for (const sender of senders.splice(0)) await sender.close();
  await store.close();
  said.length = 0;
  counted.length = 0;
});

/** A node with a receiver that answers in this way. @returns times and ids of requests */
function node(answer: () => SendResult | Promise<SendResult>) {
  const requests: [ms: number, id: string][] = [];
  const begin = now;
  const sender = new EventSender({
    host,
    now: () => now,
    post: async (_, headers) => {
      requests.push([now - begin, headers["webhook-id"]!]);
      return answer();
    },
  });
  senders.push(sender);
  return { sender, requests };
}

async function ended(): Promise<string> {
  const batch = moved(sampleBatch({ lines: 0 }), "refused", now, "No.");
  const event = endOf(batch)!;
  await host.write((sql) => noteEnd(sql, event));
  // The answer to the end of a batch may be lost, and told once more.
  await host.write((sql) => noteEnd(sql, event));
  return `evt_${batch.id}`;
}

async function turn(sender: EventSender, ms: number): Promise<void> {
  now += ms;
  await sender.look();
}

test("pauses grow, and after two days the event is lost with a sentence", async () => {
  const id = await ended();
  const { sender, requests } = node(() => LATER);
  sender.to(WEBHOOK);
  await sender.look();
  for (let minute = 0; minute < 4 * 24 * 60; minute++) await turn(sender, 60_000);
  expect(new Set(requests.map(([, one]) => one))).toEqual(new Set([id]));
  const hours = requests.map(([ms]) => Math.round(ms / HOUR));
  expect(hours).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 28, 52]);
  expect(counted).toEqual(["lost"]);
  expect(said.length).toBe(2);
  expect(said[1]).toContain("did not deliver");
  expect(said.join()).not.toContain("token=t");
});

test("of two nodes one sends, and a pause that the receiver asks for is kept", async () => {
  await ended();
  const answers: SendResult[] = [{ ...LATER, afterMs: 90_000 }, OK];
  const answer = async () => {
    await Bun.sleep(20);
    return answers.shift()!;
  };
  const [one, other] = [node(answer), node(answer)];
  for (const { sender } of [one, other]) sender.to(WEBHOOK);
  const both = () => Promise.all([one.sender.look(), other.sender.look()]);
  const count = () => one.requests.length + other.requests.length;
  await both();
  expect(count()).toBe(1);
  now += 60_000;
  await both();
  expect(count()).toBe(1);
  now += 31_000;
  await both();
  now += HOUR;
  await both();
  expect([count(), counted]).toEqual([2, ["delivered"]]);
});

test("a request whose process ended is sent once more, by the same id", async () => {
  const id = await ended();
  const killed = node(() => new Promise<never>(() => {}));
  killed.sender.to(WEBHOOK);
  while (killed.requests.length === 0) await Bun.sleep(5);
  const next = node(() => OK);
  next.sender.to(WEBHOOK);
  await turn(next.sender, 20_000);
  expect(next.requests).toEqual([]);
  await turn(next.sender, 20_000);
  expect(next.requests.map(([, one]) => one)).toEqual([id]);
  await turn(next.sender, HOUR);
  expect(next.requests.length).toBe(1);
});

test("a batch that ends with its creation has an event, if there is a receiver", async () => {
  const refused = moved(sampleBatch({ lines: 0 }), "refused", now, "No.");
  const row = { owner: { path: "/eng", address: "" }, most: 9, queued: 9 };
  const full = { ...host, left: async () => {} };
  await new BatchBook(full).create({ ...row, batch: { ...refused, id: refused.id.replace(/.$/, "x") } });
  await new BatchBook(full, () => true).create({ ...row, batch: refused });
  const { sender, requests } = node(() => OK);
  sender.to(WEBHOOK);
  await sender.look();
  expect(requests.map(([, id]) => id)).toEqual([`evt_${refused.id}`]);
});

test("without a receiver events wait", async () => {
  await ended();
  const { sender, requests } = node(() => OK);
  await sender.look();
  expect([sender.isOn, requests.length]).toEqual([false, 0]);
  sender.to(WEBHOOK);
  await sender.look();
  expect([sender.isOn, requests.length]).toEqual([true, 1]);
});
