/**
 * Plants one fault after the other and replays a few recordings that can show it, and exchanges made by hand: the replay has
 * to report a fault each time, and none before anything is planted.
 */
import { answerBytes, type Chunking, type Recording } from "../helpers/recordings.ts";
import { CONVERSE_FIXTURES } from "./converse-fixtures.ts";
import { FIXTURES as OTHER_FIXTURES } from "./fixtures.ts";
import { EMBEDDING_FIXTURES } from "./embedding-fixtures.ts";
import { GEMINI_FIXTURES } from "./gemini-fixtures.ts";
import { HOST_LANES } from "./host-lanes.ts";
import { INVOKE_FIXTURES } from "./invoke-fixtures.ts";
import type { Mutation } from "./mutations.ts";
import { replayNative } from "./native.ts";
import { withPlanted, type PlantedApi } from "./plant.ts";
import { replayResponsesAnswers } from "./responses-answers.ts";
import { RESPONSES_FIXTURES } from "./responses-fixtures.ts";
import { replayResponsesRequests } from "./responses-requests.ts";
import { replaySessions } from "./sessions.ts";
import { align, faultLines } from "./table.ts";
import { sessionFaults, translationFaults } from "./translated-table.ts";
import { replayHalves } from "./translated.ts";

export interface Verdict {
  mutation: Mutation;
  /** Recordings that were replayed. */
  recordings: number;
  /** How often the planted fault changed something. */
  touched: number;
  /** Whether the replay is without a fault when nothing is planted. */
  clean: boolean;
  killed: boolean;
  /** The first fault the replay reported, or why the verdict is worth nothing. */
  by: string;
  seconds: number;
}

/** Exchanges made by hand, of all formats. */
export const ALL_FIXTURES: readonly Recording[] = [
  ...OTHER_FIXTURES,
  ...RESPONSES_FIXTURES,
  ...GEMINI_FIXTURES,
  ...CONVERSE_FIXTURES,
  ...INVOKE_FIXTURES,
  ...EMBEDDING_FIXTURES,
];

/** Recordings a mutation is looked for in, at most; spread over all that can show it. */
const SAMPLE = 8;
/** Streams arrive whole and in random pieces. */
const CHUNKINGS: readonly Chunking[] = ["whole", "random"];

/** Plants each mutation; `list` may be empty. `tell` hears of each verdict as it falls. */
export async function mutate(
  mutations: readonly Mutation[],
  list: readonly Recording[],
  tell: (verdict: Verdict) => void = () => {},
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const before = new Map<string, string[]>();
  for (const mutation of mutations) {
    const verdict = await judge(mutation, sampleOf(mutation, list), before);
    verdicts.push(verdict);
    tell(verdict);
  }
  return verdicts;
}

async function judge(
  mutation: Mutation,
  sample: readonly Recording[],
  before: Map<string, string[]>,
): Promise<Verdict> {
  const startedAt = performance.now();
  const key = [mutation.lane, mutation.other, ...sample.map(({ id }) => id)].join(" ");
  if (!before.has(key)) before.set(key, await replay(mutation, sample));
  const known = new Set(before.get(key));
  const { result: faults, planted } = await withPlanted(mutation.plant, () => replay(mutation, sample));
  const news = faults.filter((fault) => !known.has(fault));
  const seen = news[0] ?? "";
  const idle =
    planted.broken !== undefined
      ? `the edit threw ${String(planted.broken)}`
      : planted.touched === 0
        ? `it changed nothing in ${sample.length} recordings`
        : "";
  return {
    mutation,
    recordings: sample.length,
    touched: planted.touched,
    clean: known.size === 0,
    killed: idle === "" && seen !== "",
    by: idle || seen,
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Every nth of the recordings that can show the fault, and all exchanges made by hand that can; always the same ones. */
function sampleOf(mutation: Mutation, list: readonly Recording[]): Recording[] {
  const fits = (each: readonly Recording[]) => each.filter((recording) => canShow(mutation, recording));
  if (mutation.lane === "session")
    return [...sessionsOf(fits(list), list), ...sessionsOf(fits(ALL_FIXTURES), ALL_FIXTURES)];
  const recorded = fits(list);
  const step = Math.max(1, recorded.length / SAMPLE);
  const some = Array.from({ length: Math.min(SAMPLE, recorded.length) }, (_, index) =>
    Math.floor(index * step),
  );
  return [...some.map((place) => recorded[place]!), ...fits(ALL_FIXTURES)];
}

function canShow({ lane, api, about, vendor }: Mutation, recording: Recording): boolean {
  if (recording.api !== api || (vendor !== undefined && recording.vendor !== vendor)) return false;
  if (recording.tags.includes("sdk_rejects")) return false;
  const asked = lane === "request" || lane === "native";
  if (!asked) return about.test(answerBytes(recording).toString("utf8"));
  // A refusal reaches no upstream.
  const body = recording.request?.body;
  return body !== undefined && recording.response.status === 200 && about.test(JSON.stringify(body));
}

/** Whole sessions of which one answer fits. */
function sessionsOf(fits: readonly Recording[], list: readonly Recording[]): Recording[] {
  const keyOf = ({ vendor, source }: Recording) => `${vendor} ${source.repo} ${source.path}`;
  const keys = new Set(
    fits
      .filter(({ source }) => source.of > 1 && source.index === 0)
      .map(keyOf)
      .slice(0, SAMPLE),
  );
  return list.filter((recording) => recording.api === fits[0]?.api && keys.has(keyOf(recording)));
}

/** The faults that the replay of a mutation's lane reports. */
function replay({ lane, api, other }: Mutation, list: readonly Recording[]): Promise<string[]> {
  if (other !== undefined || OWN_LANES.has(api)) return replayHosts(lane, api, other, list);
  return api === "responses" ? replayResponses(lane, list) : REPLAYS[lane](list);
}

/** APIs whose recordings go through the lanes of `host-lanes.ts` alone. */
const OWN_LANES: ReadonlySet<string> = new Set(["gemini", "bedrock", "bedrock_invoke", "embeddings"]);

/** The lanes of the formats of Google and Amazon that the recordings go through. */
async function replayHosts(
  kind: Mutation["lane"],
  api: PlantedApi,
  other: PlantedApi | undefined,
  list: readonly Recording[],
): Promise<string[]> {
  const lanes = HOST_LANES.filter(
    (each) => each.kind === kind && each.api === api && (other === undefined || each.other === other),
  );
  const faults: string[] = [];
  for (const lane of lanes)
    for (const each of await lane.replay(list, CHUNKINGS)) faults.push(...each.faults);
  return faults;
}

/** Requests of responses clients and answers of responses providers, against both other formats. */
async function replayResponses(lane: Mutation["lane"], list: readonly Recording[]): Promise<string[]> {
  const faults: string[] = [];
  for (const api of ["chat", "messages"] as const) {
    const replays =
      lane === "request"
        ? await replayResponsesRequests(list, api)
        : await replayResponsesAnswers(list, api, CHUNKINGS);
    faults.push(...replays.flatMap((each) => each.faults));
  }
  return faults;
}

const REPLAYS: Record<Mutation["lane"], (list: readonly Recording[]) => Promise<string[]>> = {
  native: async (list) => faultLines(await replayNative(list, ["whole"])),
  request: async (list) => translationFaults(await replayHalves({ requests: list, answers: [] })),
  answer: async (list) =>
    translationFaults(await replayHalves({ requests: [], answers: list, chunkings: CHUNKINGS })),
  session: async (list) => sessionFaults(await replaySessions(list)),
};

/** The verdicts that say the replay does not see; empty when it sees everything. */
export function survivors(verdicts: readonly Verdict[]): Verdict[] {
  return verdicts.filter(({ killed }) => !killed);
}

/** One line for a verdict. */
export function verdictLine({ mutation, killed, touched, by, seconds, clean }: Verdict): string {
  const word = killed ? "killed  " : "SURVIVED";
  const about = `${laneOf(mutation)}: ${mutation.name}`;
  const doubt = clean ? "" : " (with faults before)";
  return `${word} ${about}${doubt} [${touched} edits, ${seconds.toFixed(1)} s] ${by.slice(0, 140)}`;
}

/** The name of the lane that has to see the fault. */
export function laneOf({ lane, api, other }: Mutation): string {
  return other === undefined
    ? `${lane} ${api}`
    : `${lane} ${api} ${lane === "request" ? "to" : "for"} ${other}`;
}

/** How many were killed, by lane. */
export function writeVerdicts(verdicts: readonly Verdict[]): string {
  const lanes = [...new Set(verdicts.map(({ mutation }) => laneOf(mutation)))];
  const rows = [...lanes, "all"].map((lane) => {
    const own = verdicts.filter(({ mutation }) => lane === "all" || lane === laneOf(mutation));
    return [lane, `${own.length}`, `${own.filter(({ killed }) => killed).length}`];
  });
  return align([["", "planted", "killed"], ...rows]);
}
