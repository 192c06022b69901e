/**
 * Real vendor traffic, read from `../shared/recordings` beside the repository. It is not part of the repository: tests
 * that use it skip with a sentence when the folder is not there.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sharedPath } from "./shared.ts";
import { IS_LONG } from "./effort.ts";

const FOLDER = sharedPath("recordings");

export interface Recording {
  id: string;
  vendor: string;
  api: string;
  model: string | null;
  stream: boolean;
  framing: string;
  fidelity: string;
  tags: string[];
  /** Exchanges of one session are numbered `index` of `of`. */
  source: { repo: string; path: string; index: number; of: number };
  /** `null`: only the answer was published. */
  request: {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: Record<string, unknown>;
    body_text?: string;
    body_base64?: string;
  } | null;
  response: { status: number; headers: Record<string, string>; body?: string; body_base64?: string };
}

/** Whether the recordings are there; `recordings()` is empty when not. */
export const haveRecordings = existsSync(join(FOLDER, "index.tsv"));

/** The sentence to skip with. */
export const NO_RECORDINGS =
  "The recordings are not beside the repository (../shared/recordings): nothing to replay.";

/** The records of one API (`chat`, `messages`, …), of all vendors or the named ones, in the order of the files. */
export function recordings(filter: { api: string; vendors?: readonly string[] }): Recording[] {
  if (!haveRecordings) return [];
  const vendors = filter.vendors ?? vendorsOf(filter.api);
  return vendors.flatMap((vendor) => readRecords(join(FOLDER, `${vendor}.${filter.api}.jsonl`)));
}

/** For tests that read each recording in several ways: every fourth one in the fast loop, all with `LONG_TESTS=1`. */
export function someOf<T>(all: readonly T[]): readonly T[] {
  return IS_LONG ? all : all.filter((_, at) => at % 4 === 0);
}

/** The vendors of an API, sorted by name. */
export function vendorsOf(api: string): string[] {
  if (!haveRecordings) return [];
  const files = [...new Bun.Glob(`*.${api}.jsonl`).scanSync(FOLDER)];
  return files.map((file) => file.slice(0, file.indexOf("."))).sort();
}

function readRecords(file: string): Recording[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Recording);
}

/** The body of the recorded answer, byte for byte. */
export function answerBytes(recording: Recording): Buffer {
  const { body, body_base64 } = recording.response;
  return body_base64 === undefined ? Buffer.from(body ?? "") : Buffer.from(body_base64, "base64");
}

/** The recorded answer's headers that describe the message and not one connection; with a content type. */
export function answerHeaders(recording: Recording): Record<string, string> {
  const ofConnection = new Set(["transfer-encoding", "content-length", "connection", "content-encoding"]);
  const kept = Object.entries(recording.response.headers).filter(([name]) => !ofConnection.has(name));
  const type = recording.framing === "sse" ? "text/event-stream" : "application/json";
  return { "content-type": type, ...Object.fromEntries(kept) };
}

/** How a body is cut into pieces: all at once, event by event, at random places, into single bytes. */
export type Chunking = "whole" | "event" | "random" | "byte";

export const CHUNKINGS: readonly Chunking[] = ["whole", "event", "random", "byte"];

/** The pieces of a body; `seed` decides the random places. */
export function cutInto(bytes: Uint8Array, chunking: Chunking, seed = 1): Uint8Array[] {
  switch (chunking) {
    case "whole":
      return [bytes];
    case "event":
      return cutAt(bytes, eventEnds(bytes));
    case "random":
      return cutAt(bytes, randomPlaces(bytes.length, seed));
    case "byte":
      return cutAt(
        bytes,
        Array.from(bytes, (_, index) => index + 1),
      );
  }
}

/** The index behind each blank line. */
export function eventEnds(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return [...text.matchAll(/\r\n\r\n|\n\n|\r\r/g)].map((match) => match.index + match[0].length);
}

/** Places 1 to 40 bytes apart. */
function randomPlaces(length: number, seed: number): number[] {
  const random = seededRandom(seed);
  const places: number[] = [];
  for (let at = 0; at < length;) places.push((at += 1 + Math.floor(random() * 40)));
  return places;
}

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const bounds = [0, ...places.filter((place) => place < bytes.length), bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

/** Numbers from 0 to 1, the same for the same seed (a linear congruential generator). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** A number that is the same for the same text, for seeds. */
export function seedOf(text: string): number {
  return Number(Bun.hash(text) & 0xffff_ffffn);
}
