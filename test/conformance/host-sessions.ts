/**
 * Replays sessions of Gemini and Converse recordings: a client of another format holds the conversation, putting every answer
 * back into its history as its SDK gave it, and the upstream must find in each request what it had answered before.
 */
import { seedOf, type Recording } from "../helpers/recordings.ts";
import { json, startUpstream, type UpstreamRequest } from "../helpers/upstream.ts";
import { callWithSdk, type RequestBody } from "./call.ts";
import { converseFaults } from "./converse-rules.ts";
import { piecesOfConverse } from "./converse-pieces.ts";
import { geminiRecords } from "./gemini-reading.ts";
import { geminiFaults } from "./gemini-rules.ts";
import { piecesOfGemini } from "./gemini-pieces.ts";
import type { HostReplay } from "./host-answers.ts";
import { answerOf, HOSTS, hostsConfig, hostPlugins, MARK, type HostApi } from "./hosts.ts";
import { eachOf } from "./native.ts";
import { canonical, type Piece } from "./pieces.ts";
import { startReplayed } from "./plant.ts";
import type { Api } from "./policy.ts";
import { NEXT, squeeze, withOwnIds } from "./sessions.ts";
import { listOf, objectOf, textOf, type Said, type Value } from "./said.ts";

/** Holds every session of at least two whole answers. */
export async function replayHostSessions(
  api: HostApi,
  client: Api,
  list: readonly Recording[],
): Promise<HostReplay[]> {
  const talks = new Map<string, Talk>();
  const upstream = startUpstream((request) => {
    const talk = talks.get(MARK.exec(request.path)?.[0] ?? "");
    return talk
      ? talk.answer(request)
      : json({ error: { code: 501, message: "no session has this model" } }, 501);
  });
  const gateway = await startReplayed({
    target: "source",
    config: { providers: hostsConfig(upstream.url), log: { level: "error", format: "json" } },
    plugins: hostPlugins(upstream.url),
  });
  try {
    return await eachOf([...(await sessionsIn(api, list)).entries()], async ([serial, turns]) => {
      const mark = `-x${serial}`;
      const talk = new Talk(api, client, turns, mark);
      talks.set(mark, talk);
      return talk.hold(gateway.url);
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

interface Turn {
  recording: Recording;
  said: Said;
}

async function sessionsIn(api: HostApi, list: readonly Recording[]): Promise<Turn[][]> {
  const inOrder = list
    .filter(({ source }) => source.of > 1)
    .sort((left, right) => left.source.index - right.source.index)
    .map(withOwnIds);
  const turns: Turn[] = [];
  for (const recording of inOrder) {
    const expected = await HOSTS[api].expected(recording);
    if ("said" in expected && isWhole(expected.said)) turns.push({ recording, said: expected.said });
  }
  const keyOf = ({ recording: { vendor, source } }: Turn) => `${vendor} ${source.repo} ${source.path}`;
  return [...Map.groupBy(turns, keyOf).values()].filter((session) => session.length > 1);
}

/** It says something, and none of its calls was cut off. */
function isWhole({ text, calls, finish }: Said): boolean {
  if (finish === "length") return false;
  return (text.trim() !== "" || calls.length > 0) && calls.every(({ input }) => input !== undefined);
}

/** How a body of a format is judged and searched. */
interface Body {
  pieces(body: Value): Piece[];
  faults(body: Value, model: string): string[];
  /** The opaque values of the body, in order. */
  signed(body: Value): string[];
  /** The same of a recorded answer. */
  wanted(turn: Turn): string[];
  turns(body: Value): Value[];
}

const BODIES: Readonly<Record<HostApi, Body>> = {
  gemini: {
    pieces: piecesOfGemini,
    faults: geminiFaults,
    turns: (body) => listOf(body["contents"]),
    signed: (body) => boundSignatures(listOf(body["contents"])),
    wanted: ({ recording }) =>
      boundSignatures(
        geminiRecords(recording).flatMap((record) =>
          listOf(record["candidates"]).map(({ content }) => objectOf(content)),
        ),
      ),
  },
  bedrock: {
    pieces: piecesOfConverse,
    faults: converseFaults,
    turns: (body) => listOf(body["messages"]),
    signed: (body) =>
      listOf(body["messages"])
        .flatMap(({ content }) => listOf(content))
        .map(({ reasoningContent }) => objectOf(reasoningContent))
        .map(({ reasoningText, redactedContent }) =>
          redactedContent === undefined
            ? textOf(objectOf(reasoningText)["signature"])
            : Buffer.from(textOf(redactedContent), "base64").toString("latin1"),
        ),
    wanted: ({ said }) => [said.signed],
  },
};

/** Signatures in order, each behind the call that it belongs to. */
function boundSignatures(contents: readonly Value[]): string[] {
  return contents
    .flatMap(({ parts }) => listOf(parts))
    .filter(({ thoughtSignature }) => textOf(thoughtSignature) !== "")
    .map(
      ({ thoughtSignature, functionCall }) => `${callOf(objectOf(functionCall))}${textOf(thoughtSignature)};`,
    );
}

/** weir may give the call an id. */
function callOf({ name, args }: Value): string {
  return name === undefined ? "" : `${textOf(name)} ${canonical(args ?? {})} `;
}

/** One conversation: the client's history on this side, the recorded answers on the other. */
class Talk {
  readonly #api: HostApi;
  readonly #client: Api;
  readonly #turns: readonly Turn[];
  readonly #model: string;
  readonly #faults: string[] = [];
  readonly #history: Value[] = [{ role: "user", content: "Begin." }];
  #at = 0;
  #before: string[] = [];

  constructor(api: HostApi, client: Api, turns: readonly Turn[], mark: string) {
    this.#api = api;
    this.#client = client;
    this.#turns = turns;
    this.#model = HOSTS[api].model(turns[0]!.recording) + mark;
  }

  /** What the upstream does: looks for all it has said, then gives the next recorded answer. */
  answer(request: UpstreamRequest) {
    const body = JSON.parse(request.body.toString("utf8")) as Value;
    this.#say(BODIES[this.#api].faults(body, this.#model));
    this.#say(forgotten(this.#api, this.#client, body, this.#turns.slice(0, this.#at)));
    if (this.#api === "gemini") this.#say(idFaults(body, this.#turns.slice(0, this.#at), this.#model));
    this.#say(this.#movedPrefix(body));
    return answerOf(
      this.#api,
      this.#turns[this.#at]!.recording,
      seedOf(this.#model) % 2 === 0 ? "whole" : "random",
    );
  }

  async hold(url: string): Promise<HostReplay> {
    for (; this.#at < this.#turns.length; this.#at++) {
      const body = this.#request(HOSTS[this.#api].isStream(this.#turns[this.#at]!.recording));
      const { message } = await callWithSdk(this.#client, url, body, JSON.stringify(body));
      if ("error" in message) {
        this.#say([`the SDK threw ${message.error.message}`]);
        break;
      }
      this.#history.push(...NEXT[this.#client](message.value as Value));
    }
    return { recording: this.#turns[0]!.recording, faults: this.#faults };
  }

  #request(stream: boolean): RequestBody {
    const names = [...new Set(this.#turns.flatMap(({ said: { calls } }) => calls.map(({ name }) => name)))];
    const tools = names.map((name) =>
      this.#client === "chat"
        ? { type: "function", function: { name, parameters: { type: "object" } } }
        : { name, input_schema: { type: "object" } },
    );
    const limit = this.#client === "messages" && { max_tokens: 2048 };
    return {
      model: this.#model,
      stream,
      ...limit,
      ...(tools.length > 0 && { tools }),
      messages: this.#history,
    };
  }

  /** The same history gives the same bytes on every turn; cache marks move with the end. */
  #movedPrefix(body: Value): string[] {
    const written = BODIES[this.#api]
      .turns(body)
      .map((turn) =>
        JSON.stringify({ ...turn, content: listOf(turn["content"]).filter((block) => !block["cachePoint"]) }),
      );
    const place = this.#before.findIndex((turn, index) => turn !== written[index]);
    this.#before = written;
    return place === -1 ? [] : [`turn ${place} is written in another way than a turn before`];
  }

  #say(faults: readonly string[]): void {
    this.#faults.push(...faults.map((fault) => `turn ${this.#at}: ${fault}`));
  }
}

/** Vertex takes back the ids that it gave, and no other one; AI Studio wants one for each call. */
function idFaults(body: Value, turns: readonly Turn[], model: string): string[] {
  const callsIn = (contents: readonly Value[]) =>
    contents
      .flatMap(({ parts }) => listOf(parts))
      .flatMap((part) => (part["functionCall"] ? [objectOf(part["functionCall"])] : []));
  const got = callsIn(listOf(body["contents"]));
  if (!model.startsWith("vertex"))
    return got.some(({ id }) => id === undefined) ? ["a call without an id, to AI Studio"] : [];
  const given = turns.flatMap(({ recording }) =>
    callsIn(
      geminiRecords(recording).flatMap((record) =>
        listOf(record["candidates"]).map(({ content }) => objectOf(content)),
      ),
    ),
  );
  return got.flatMap(({ id, name }, place) =>
    id === given[place]?.["id"] ? [] : [`the call of ${textOf(name)} has the id ${String(id)}, to Vertex`],
  );
}

/** What of earlier answers is not in the request. */
function forgotten(api: HostApi, client: Api, body: Value, turns: readonly Turn[]): string[] {
  const { pieces, signed, wanted } = BODIES[api];
  const all = pieces(body);
  const text = squeeze(
    all
      .filter(({ kind, by }) => kind === "text" && by === "assistant")
      .map(({ value }) => value)
      .join(""),
  );
  const calls = all.filter(({ kind }) => kind === "call").map(({ value }) => value);
  const faults: string[] = [];
  for (const { said: reading } of turns) {
    if (!text.includes(squeeze(reading.text))) faults.push(`text forgotten: ${reading.text.slice(0, 80)}`);
    for (const { name, input } of reading.calls)
      if (!calls.includes(`${name} ${canonical(input)}`))
        faults.push(`call forgotten: ${name} ${canonical(input)}`);
  }
  const [got, missed] = [signed(body), turns.flatMap(wanted)];
  // A chat message has no place for reasoning between its calls.
  const areAll = client === "chat" && missed.every((each) => got.includes(each));
  const isThere = areAll || got.join("").includes(missed.join(""));
  return isThere ? faults : [...faults, "signed reasoning forgotten"];
}
