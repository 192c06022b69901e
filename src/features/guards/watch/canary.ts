/**
 * Sends values through the guards of the config in every client format, whole and streamed, with a provider of its own inside: no
 * call of a client, no record, no charge. A value that reaches the provider or the client has got out.
 */
import { Call } from "../../../core/call.ts";
import type { ChatEvent } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { ClientCodec } from "../../../core/format.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { Opened } from "../../../gateway/lanes/lane.ts";
import { Entry } from "../../../gateway/seams.ts";
import { readJson } from "../../../stream/json-nodes.ts";
import { Guards, usesBeside } from "../around.ts";
import { Guard } from "../guard.ts";
import { writtenAnswer } from "../pass/refusal.ts";
import { type Client, CLIENTS } from "../prove/clients.ts";
import { KINDS, type ValueKind } from "../prove/values.ts";
import type { NamedGuard } from "../section.ts";
import { BlockedError } from "../verdicts.ts";

/** The formats and names that requests are read with. */
export type Registry = Entry["registry"];

/** One value in one format. */
export interface Flight {
  readonly guard: string;
  readonly format: string;
  readonly stream: boolean;
  readonly kind: string;
  /** Where the value has got out; absent: nowhere. */
  readonly out?: "provider" | "client";
}

/** What keeps a value in. A guard that flags or routes lets it go on, and one that asks decides elsewhere. */
const KEEPS = new Set(["replace", "mask", "block"]);
/** Characters of an event of a stream. */
const PIECE = 3;

/** @param root the secret of the store @param seed another value for each number */
export async function fly(
  guards: readonly NamedGuard[],
  registry: Registry,
  root: () => Promise<Uint8Array> | Uint8Array,
  seed: number,
): Promise<Flight[]> {
  const flights: Flight[] = [];
  for (const options of guards) {
    const { keys: _, models: __, unless: ___, ...whole } = options;
    const guard = new Guard(whole);
    if (!KEEPS.has(guard.action)) continue;
    const running = new Guards([guard], usesBeside(root));
    for (const client of CLIENTS) {
      const codec = registry.formats.get(client.name)?.client;
      if (!codec?.facts.places) continue;
      for (const stream of client.streams ? [true, false] : [false])
        for (const kind of KINDS.filter(({ name }) => options.find?.some((one) => one === name)))
          flights.push(await one({ guard, running, client, codec, stream, kind, registry, seed }));
    }
  }
  return flights;
}

interface Given {
  readonly guard: Guard;
  readonly running: Guards;
  readonly client: Client;
  readonly codec: ClientCodec;
  readonly stream: boolean;
  readonly kind: ValueKind;
  readonly registry: Registry;
  readonly seed: number;
}

async function one(given: Given): Promise<Flight> {
  const { guard, running, client, stream, kind, seed } = given;
  const [asked, said] = [kind.make(2 * seed), kind.make(2 * seed + 1)];
  const entry = entryOf(given, `Say ${asked} again.`);
  const flight = { guard: guard.name, format: client.name, stream, kind: kind.name };
  let out: Flight["out"];
  try {
    const opened = await running.run(entry, async (edited) => {
      const { bytes } = edited ?? entry;
      if (guard.readsRequests && Buffer.from(bytes).toString().includes(asked)) out = "provider";
      return writtenAnswer(entry, answerOf(`So be it: ${said} and no more.`));
    });
    const { text } = client.read(await eventsOf(opened));
    if (guard.readsAnswers && text.includes(said)) out ??= "client";
  } catch (thrown) {
    if (!(thrown instanceof BlockedError)) throw thrown;
  }
  return { ...flight, ...(out && { out }) };
}

function entryOf({ client, codec, stream, registry }: Given, text: string): Entry {
  const model = "canary";
  const body = client.body({ model, stream, place: "text", texts: [text], mark: "A canary." });
  const bytes = Buffer.from(JSON.stringify(body));
  const members = new Map(readJson(bytes).entries());
  const call = new Call("canary", client.name, new Headers());
  call.model = model;
  call.stream = stream;
  const read = { call, format: { id: client.name, client: codec }, bytes, body };
  return new Entry(
    { ...read, spanOf: (name: string) => members.get(name) },
    { operation: "generate", registry },
  );
}

function answerOf(text: string): ChatEvent[] {
  const pieces = Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) =>
    text.slice(at * PIECE, (at + 1) * PIECE),
  );
  return [
    { type: "message-start", id: "canary", model: "canary" },
    { type: "block-start", index: 0, block: { type: "text" } },
    ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index: 0, delta })),
    { type: "block-end", index: 0 },
    { type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE },
  ];
}

/** The events that a client would get; those before a block. */
async function eventsOf(opened: Opened) {
  const text = opened.kind === "json" ? Buffer.from(opened.body).toString() : await textOf(opened.source);
  const lines =
    opened.kind === "json" ? [text] : [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data!);
  return lines.map((line) => parseJson(line)).filter((value) => isObject(value));
}

async function textOf(source: Extract<Opened, { kind: "stream" }>["source"]): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    source.take({ piece: resolve, end: () => resolve(undefined), fail: () => resolve(undefined) });
    const piece = await promise;
    if (!piece) return Buffer.concat(pieces).toString();
    pieces.push(Uint8Array.from(piece));
  }
}
