/** Operations on alerts: what was sent to whom, and a test. */
import type { AdminBooks } from "../../admin/books.ts";
import { actorOf } from "../../admin/entries.ts";
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { AdminError, notFound } from "../../operator/errors.ts";
import type { Note } from "../../operator/overview.ts";
import { listAlerts, type SentAlert, testAlerts, type Webhook } from "./contracts.ts";
import { type Delivery, readLast, readNewest, webhookId } from "./rows.ts";
import type { AlertTarget } from "./section.ts";
import { alertsPart } from "./slots.ts";

const operations = [
  answers(listAlerts, async ({ books, query: { limit } }) => {
    const part = alertsPart.get(books.offers);
    const unsaved = part?.unsaved() ?? [];
    const newest = withUnsaved(await books.read((sql) => readNewest(sql, limit)), unsaved);
    const last = withUnsaved(
      await books.read(readLast),
      unsaved.filter(({ tries }) => tries > 0),
    );
    const webhooks = part?.receivers()?.map((target) => webhookOf(target, last));
    return { json: { ...(webhooks && { webhooks }), alerts: alertsOf(newest).slice(0, limit) } };
  }),
  answers(testAlerts, async ({ books, caller, body: { webhook } }) => {
    const part = alertsPart.get(books.offers);
    const all = part?.receivers();
    if (!part || !all) throw new AdminError(503, "gateway_failed", "No test was sent: no gateway runs.");
    if (all.length === 0)
      throw new AdminError(409, "not_available", "No test was sent: the config has no webhook.");
    const targets = all.filter(({ url }) => webhook === undefined || webhookId(url) === webhook);
    if (targets.length === 0) throw notFound("webhook", webhook!);
    const { id, sent } = (await part.test(targets))!;
    await books.note(actorOf(caller), "test", "alerts");
    const places = new Map(targets.map(({ url }) => [webhookId(url), masked(url)]));
    return { json: { alert: id, sent: sent.map((one) => ({ ...one, to: places.get(one.webhook)! })) } };
  }),
];

export const admin: OwnOperations = {
  after: ["reloadConfig", "listCalls"],
  operations,
  async notes({ books, caller }, notes) {
    const isAny = notes.some(({ kind }) => EVENTS[kind] !== undefined);
    if (!isAny || caller.path !== "/" || !alertsPart.get(books.offers)?.receivers()?.length) return notes;
    const sent = alertsOf(await newestOf(books));
    return notes.map((note) => {
      const found = sent.find((alert) => isOf(alert, note, books));
      if (!found) return note;
      return { ...note, acts: [...(note.acts ?? []), { words: "Its alert", at: `/alerts/${found.id}` }] };
    });
  },
};

/** Events of alerts on what a note says. */
const EVENTS: Partial<Record<Note["kind"], readonly SentAlert["event"][]>> = {
  "budget-empty": ["budget"],
  "budget-low": ["budget"],
  deployment: ["breaker", "credential"],
  store: ["store"],
};

/** Alerts among which that of a note is searched. */
const SEARCHED = 50;

/** A note of now has no alert that is over. */
function isOf({ event, state, subject, endedAt }: SentAlert, note: Note, books: AdminBooks): boolean {
  if (EVENTS[note.kind]?.includes(event) !== true || state === "ends" || endedAt !== undefined) return false;
  if (event === "store") return true;
  if (event !== "budget") return subject === note.subject;
  return books.policy().budgets.some(({ id, name }) => id === note.subject && name === subject);
}

/** The first page must come also while the store is away. */
async function newestOf(books: AdminBooks): Promise<Delivery[]> {
  const unsaved = alertsPart.get(books.offers)?.unsaved() ?? [];
  const saved = await books.read((sql) => readNewest(sql, SEARCHED)).catch(() => []);
  return withUnsaved(saved, unsaved);
}

/** Deliveries as they are now, the newest first. */
function withUnsaved(saved: readonly Delivery[], unsaved: readonly Delivery[]): Delivery[] {
  const all = new Map([...saved, ...unsaved].map((one) => [`${one.id} ${one.webhook}`, one]));
  return [...all.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

function webhookOf({ url, events, format, secret, errorShare }: AlertTarget, tried: Delivery[]): Webhook {
  const id = webhookId(url);
  const [last] = tried.filter(({ webhook }) => webhook === id).sort((a, b) => b.triedAt - a.triedAt);
  return {
    ...{ id, to: masked(url), events: [...events], format, signed: secret !== undefined, errorShare },
    ...(last && {
      last: {
        ...{ alert: last.id, event: last.event, at: last.triedAt, result: last.result },
        ...(last.reason !== undefined && { reason: last.reason }),
      },
    }),
  };
}

/** Each alert once, with all its deliveries. */
function alertsOf(deliveries: readonly Delivery[]): SentAlert[] {
  return [...Map.groupBy(deliveries, ({ id }) => id).values()].map((all) => {
    const { id, event, state, at, subject, message, node, endedAt } = all[0]!;
    return {
      ...{ id, event, state, at, subject, message, node },
      ...(endedAt !== undefined && { endedAt }),
      deliveries: all.map(({ webhook, place, result, reason, tries, triedAt }) => ({
        ...{ webhook, to: place, result, tries, at: triedAt },
        ...(reason !== undefined && { reason }),
      })),
    };
  });
}

/** `https://hooks.example.com/…`: the rest of an address may be a credential. */
function masked(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === "/" && search === "" ? origin : `${origin}/…`;
}
