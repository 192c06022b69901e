/**
 * Recorded traffic of vendors with values planted at random places of its texts: requests go on without a value and else as they
 * were; answers come back with their values, however they are cut, and byte for byte where nothing is replaced.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Call } from "../../../core/call.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import type { TextPlaces } from "../../../core/text-places.ts";
import { chatCompletionsFormat } from "../../../formats/chat-completions/index.ts";
import { geminiFormat } from "../../../formats/gemini/index.ts";
import { messagesFormat } from "../../../formats/messages/index.ts";
import { ollamaFormat } from "../../../formats/ollama/index.ts";
import { responsesFormat } from "../../../formats/responses/index.ts";
import type { ByteSource } from "../../../gateway/delivery/stream.ts";
import { withStrings } from "../../../stream/json-nodes.ts";
import { IS_LONG } from "../../../../test/helpers/effort.ts";
import {
  answerBytes,
  type Chunking,
  cutInto,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
  seededRandom,
  seedOf,
  someOf,
} from "../../../../test/helpers/recordings.ts";
import { Guard } from "../guard.ts";
import { guardAnswer } from "../pass/answer.ts";
import { Output } from "../pass/output.ts";
import type { Passing } from "../pass/passing.ts";
import { guardRequest } from "../pass/request.ts";
import { GuardedSource } from "../pass/stream.ts";
import { withTexts } from "../pass/spans.ts";
import { CallMap } from "../replace/call-map.ts";
import { Verdicts } from "../verdicts.ts";

setDefaultTimeout(600_000);

const SECRET = new Uint8Array(32);
const VALUES = ["anna.planted@example.com", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00"];
const GUARD = new Guard({ name: "pii", find: ["email", "card", "iban"], do: "replace" });

/** Places by the name of an API in the recordings. Others have requests and answers of these formats, or none. */
const APIS: Readonly<Record<string, TextPlaces>> = {
  chat: chatCompletionsFormat.client.facts.places!,
  embeddings: chatCompletionsFormat.client.facts.places!,
  messages: messagesFormat.client.facts.places!,
  count_tokens: messagesFormat.client.facts.places!,
  responses: responsesFormat.client.facts.places!,
  responses_compact: responsesFormat.client.facts.places!,
  gemini: geminiFormat.client.facts.places!,
  ollama: ollamaFormat.client.facts.places!,
};

function passingOf(): Passing {
  const call = new Call("req_1", "chat-completions", new Headers());
  const verdicts = new Verdicts([GUARD], call, SECRET);
  const passing = { guards: [GUARD], map: new CallMap(SECRET), verdicts, refusesUnread: false, call };
  return passing as unknown as Passing;
}

type Random = () => number;
const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)]!;

/** Where a text can be cut: no half of a surrogate pair is a text. */
function cutAt(random: Random, text: string): number {
  const at = Math.floor(random() * (text.length + 1));
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}

const planted = (random: Random, text: string, value: string) => {
  const at = cutAt(random, text);
  return `${text.slice(0, at)} ${value} ${text.slice(at)}`;
};

const READ = /^(text|system|tool-result|document)$/;

/** A request with a value in up to three of its texts. */
function plantRequest(bytes: Buffer, places: TextPlaces, random: Random): Uint8Array | undefined {
  const texts = [...places.request(bytes)].filter(
    ({ kind, fixed, isJson }) => READ.test(kind) && !fixed && !isJson,
  );
  if (texts.length === 0) return undefined;
  const chosen = new Set(VALUES.map(() => pick(random, texts)));
  const edits = [...chosen].map((place) => ({
    ...{ start: place.start, end: place.end },
    text: planted(random, place.read(), pick(random, VALUES)),
  }));
  return withStrings(
    bytes,
    edits.sort((one, other) => one.start - other.start),
  );
}

/** @returns what does not hold */
function requestFault(recording: Recording, places: TextPlaces): string | undefined {
  const { request, id } = recording;
  if (!request?.body) return undefined;
  const given = Buffer.from(JSON.stringify(request.body));
  const bytes = plantRequest(given, places, seededRandom(seedOf(id)));
  if (!bytes) return undefined;
  const passing = passingOf();
  const edited = guardRequest(bytes, places, passing);
  if (!edited || edited instanceof Promise) return "nothing was replaced";
  const sent = Buffer.from(edited.bytes).toString();
  const left = VALUES.find((value) => sent.includes(value));
  if (left !== undefined) return `the provider gets ${left}`;
  let restored = sent;
  for (const [token, value] of passing.map.values)
    restored = restored.replaceAll(token, JSON.stringify(value).slice(1, -1));
  return restored === Buffer.from(bytes).toString() ? undefined : "something else has changed";
}

/** The bytes of a stream, as a gateway reads them. */
function sourceOf(pieces: readonly Uint8Array[]): ByteSource {
  let at = 0;
  return {
    begin: async () => {},
    take(receiver) {
      const piece = pieces[at++];
      if (piece) receiver.piece(piece);
      else receiver.end();
    },
    stop: () => {},
  };
}

function readAll(source: ByteSource): string {
  const pieces: Uint8Array[] = [];
  let isOver = false;
  while (!isOver)
    source.take({
      piece: (bytes) => void pieces.push(bytes),
      end: () => void (isOver = true),
      fail: (reason) => {
        throw reason as Error;
      },
    });
  return Buffer.concat(pieces)
    .toString()
    .replace(/: weir-guards .*\n\n/, "");
}

interface Event {
  readonly raw: string;
  readonly data: string;
  readonly body: JsonObject;
}

function eventsIn(text: string): Event[] {
  return [...text.matchAll(/[^]*?(?:\r?\n\r?\n|$)/g)].flatMap(([raw]) => {
    const data = /^data: ?(.*)$/m.exec(raw)?.[1];
    const body: Json | undefined = data === undefined ? undefined : parseJson(data);
    return isObject(body) ? [{ raw, data: data!, body }] : [];
  });
}

/** The texts of channels, and those of events. Logprobs of what changes are left out. */
function textsIn(text: string, places: TextPlaces): string[] {
  const channels = new Map<string, string>();
  const others: string[] = [];
  for (const { body } of eventsIn(text))
    for (const one of places.event(body))
      if (one.kind === "logprobs") continue;
      else if (one.channel === undefined) others.push(one.get());
      else
        channels.set(
          `${one.channel} ${one.kind}`,
          (channels.get(`${one.channel} ${one.kind}`) ?? "") + one.get(),
        );
  // Of some formats an event of one channel may come before that of another.
  return [...[...channels].map((entry) => entry.join(": ")).toSorted(), ...others.toSorted()];
}

interface Piece {
  readonly event: Event;
  readonly path: string;
  readonly name: string;
  text: string;
}

/** A stream with words in its channels, some of them in two events. */
function plantStream(text: string, places: TextPlaces, words: readonly string[], random: Random): string {
  const pieces: Piece[] = eventsIn(text).flatMap((event) =>
    [...places.event(event.body)]
      .filter(({ channel, fixed, kind }) => channel !== undefined && !fixed && READ.test(kind))
      .map((one) => ({ event, path: one.path, name: `${one.channel} ${one.kind}`, text: one.get() })),
  );
  if (pieces.length === 0) return text;
  for (const word of words) {
    const one = pick(random, pieces);
    const next = pieces.slice(pieces.indexOf(one) + 1).find(({ name }) => name === one.name);
    const at = next ? 1 + Math.floor(random() * word.length) : word.length;
    one.text += ` ${word.slice(0, at)}`;
    if (next) next.text = `${word.slice(at)} ${next.text}`;
  }
  const changes = new Map<Event, Map<string, string>>();
  for (const { event, path, text: changed } of pieces)
    changes.set(event, (changes.get(event) ?? new Map()).set(path, changed));
  const written = [...changes].map(([event, one]) => {
    const data = Buffer.from(withTexts(Buffer.from(event.data), one)).toString();
    return { from: event.raw, to: event.raw.replace(event.data, () => data) };
  });
  let result = "";
  let rest = text;
  for (const { from, to } of written) {
    const at = rest.indexOf(from);
    result += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return result + rest;
}

/** Its values are tokens for the model. */
function restoringOutput(): { output: Output; tokens: ReadonlyMap<string, string> } {
  const { map, verdicts } = passingOf();
  map.add(
    VALUES.map((value, at) => ({ kind: ["EMAIL", "CARD", "IBAN"][at]!, normal: value, written: value })),
  );
  return { output: new Output([], map, verdicts), tokens: map.values };
}

function maskingOutput(): Output {
  const guard = new Guard({ name: "pii", find: ["email", "card", "iban"], do: "mask" });
  const verdicts = new Verdicts([guard], new Call("req_1", "chat-completions", new Headers()), SECRET);
  return new Output([guard], new CallMap(SECRET), verdicts);
}

function replaced(text: string, tokens: ReadonlyMap<string, string>): string {
  return [...tokens].reduce((whole, [token, value]) => whole.replaceAll(token, value), text);
}

/** The events of a stream, sorted. */
const inOrder = (text: string) => text.split("\n\n").toSorted().join("\n\n");

const CUTS: readonly Chunking[] = ["whole", "event", "byte"];

/** @returns what does not hold */
function streamFault(recording: Recording, places: TextPlaces): string | undefined {
  const text = answerBytes(recording).toString();
  const random = seededRandom(seedOf(recording.id));
  const { tokens } = restoringOutput();
  const said = plantStream(text, places, [...tokens.keys()], random);
  const spoken = plantStream(text, places, VALUES, random);
  const wanted = textsIn(said, places).map((one) => replaced(one, tokens));
  for (const cut of CUTS) {
    const through = (stream: string, output: Output) =>
      readAll(new GuardedSource(sourceOf(cutInto(Buffer.from(stream), cut)), places, output));
    const same = through(text, restoringOutput().output);
    const isSame = places.independent ? inOrder(same) === inOrder(text) : same === text;
    if (!isSame) return `${cut}: an answer without tokens has changed`;
    const got = textsIn(through(said, restoringOutput().output), places);
    if (JSON.stringify(got) !== JSON.stringify(wanted)) return `${cut}: the client reads other texts`;
    const masked = textsIn(through(spoken, maskingOutput()), places).join("\n");
    const left = VALUES.find((value) => masked.includes(value));
    if (left !== undefined) return `${cut}: the client reads ${left}`;
  }
  return undefined;
}

const withoutLogprobs = (name: string, value: unknown) => (name.startsWith("logprobs") ? null : value);

/** @returns what does not hold */
/** A JSON answer is there as a whole. */
const NO_PATIENCE = undefined as never;

async function answerFault(recording: Recording, places: TextPlaces): Promise<string | undefined> {
  const bytes = answerBytes(recording);
  const body = parseJson(bytes.toString());
  if (!isObject(body)) return undefined;
  const texts = [...places.answer(body)].filter(
    ({ fixed, kind, isJson }) => !fixed && !isJson && READ.test(kind),
  );
  const { output, tokens } = restoringOutput();
  const random = seededRandom(seedOf(recording.id));
  const changes = new Map<string, string>();
  for (const token of texts.length > 0 ? tokens.keys() : []) {
    const text = pick(random, texts);
    changes.set(text.path, planted(random, changes.get(text.path) ?? text.get(), token));
  }
  const said = changes.size === 0 ? bytes : withTexts(bytes, changes);
  const answer = { kind: "json", status: 200, headers: {}, body: said } as const;
  const opened = await guardAnswer(answer, places, { inner: [], last: output }, NO_PATIENCE);
  const got = opened.kind === "json" ? Buffer.from(opened.body as Uint8Array).toString() : "";
  const wanted = replaced(Buffer.from(said).toString(), tokens);
  // Logprobs of what changes are left out.
  const plain = (json: string) =>
    /"logprobs(?:Result)?":\{/.test(json) ? JSON.stringify(JSON.parse(json, withoutLogprobs)) : json;
  return plain(got) === plain(wanted) ? undefined : "the client reads another answer";
}

/** Of those with several answers in pieces of one byte, every twelfth one; all with `LONG_TESTS=1`. */
const of = (api: string) => someOf(recordings({ api })).filter((_, at) => IS_LONG || at % 3 === 0);

describe.skipIf(!haveRecordings)("recorded traffic", () => {
  for (const [api, places] of Object.entries(APIS)) {
    test(`requests of ${api}`, () => {
      const faults = of(api).flatMap((one) => {
        const fault = requestFault(one, places);
        return fault === undefined ? [] : [`${one.id}: ${fault}`];
      });
      expect(faults).toEqual([]);
    });

    test(`answers of ${api}`, async () => {
      const faults: string[] = [];
      for (const one of of(api)) {
        if (one.response.status !== 200) continue;
        const fault = one.framing === "sse" ? streamFault(one, places) : await answerFault(one, places);
        if (fault !== undefined) faults.push(`${one.id}: ${fault}`);
      }
      expect(faults).toEqual([]);
    });
  }
});

test.skipIf(haveRecordings)(NO_RECORDINGS, () => {});
