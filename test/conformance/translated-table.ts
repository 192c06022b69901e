/** The tables of the translated lanes: one for each pair of formats, by vendor and by subject. */
import { CHUNKINGS, type Chunking, type Recording } from "../helpers/recordings.ts";
import { OTHER } from "./expected.ts";
import type { Api } from "./policy.ts";
import { align } from "./table.ts";
import type { SessionReplay } from "./sessions.ts";
import type { AnswerReplay, RequestReplay, Translation } from "./translated.ts";

/** By tags of the recordings. */
const SUBJECTS: Record<string, readonly string[]> = {
  tools: ["tools", "tool_call", "tool_result_in", "legacy_functions"],
  parallel: ["parallel_tool_calls"],
  thinking: ["thinking", "thinking_replay", "reasoning_param"],
  signatures: ["signature", "redacted_thinking"],
  images: ["image_in", "tool_result_image"],
  PDF: ["pdf_in", "document_in"],
  cache: ["cache_control", "cache_read", "cache_write"],
  structured: ["structured_output", "json_mode", "strict_schema"],
  errors: ["error", "error_in_body", "error_mid_stream"],
};

const HEAD = ["", "requests", "carried", "refused", "failed"].concat(
  ["answers", "same", "error", "unasked", "failed"],
  CHUNKINGS,
);

/** One line for each fault, for people; equal faults of one record at several chunkings once. */
export function translationFaults({ requests, answers }: Translation): string[] {
  const lines = [
    ...requests.flatMap(({ recording, faults }) =>
      faults.map((fault) => `${nameOf(recording)} request: ${fault}`),
    ),
    ...answers.flatMap(({ recording, runs }) =>
      runs.flatMap(({ faults }) => faults.map((fault) => `${nameOf(recording)} answer: ${fault}`)),
    ),
  ];
  return [...new Set(lines)];
}

/** Both lanes, each with the reasons for what was not carried. */
export function writeTranslationTables(translation: Translation): string {
  return (["chat", "messages"] as const).map((client) => writeLane(client, translation)).join("\n\n");
}

/** One line for each lane's sessions. */
export function writeSessions(replays: readonly SessionReplay[]): string {
  const lines = (["chat", "messages"] as const).map((client) => {
    const own = replays.filter(({ recording }) => recording.api === OTHER[client]);
    const turns = own.reduce((sum, replay) => sum + replay.turns, 0);
    const good = own.filter(({ faults }) => faults.length === 0).length;
    return `${client} client: ${good} of ${own.length} sessions (${turns} turns) remember all that was answered`;
  });
  return lines.join("\n");
}

/** One line for each fault of a session. */
export function sessionFaults(replays: readonly SessionReplay[]): string[] {
  return replays.flatMap(({ recording, faults }) =>
    faults.map((fault) => `${nameOf(recording)} session: ${fault}`),
  );
}

/** A lane carries the requests of its client's format, and the answers of the other one. */
function writeLane(client: Api, translation: Translation): string {
  const requests = translation.requests.filter(({ recording }) => recording.api === client);
  const answers = translation.answers.filter(({ recording }) => recording.api === OTHER[client]);
  const all = [...requests, ...answers].map(({ recording }) => recording);
  const vendors = [...new Set(all.map(({ vendor }) => vendor))].sort();
  const select = (name: string, fits: (recording: Recording) => boolean) =>
    cells(
      name,
      requests.filter(({ recording }) => fits(recording)),
      answers.filter(({ recording }) => fits(recording)),
    );
  const rows = [
    ...vendors.map((vendor) => select(vendor, (recording) => recording.vendor === vendor)),
    ...Object.entries(SUBJECTS).map(([subject, tags]) =>
      select(`· ${subject}`, (recording) => recording.tags.some((tag) => tags.includes(tag))),
    ),
    select("all", () => true),
  ];
  const title = `Translated lane, ${client} client, ${OTHER[client]} upstream`;
  return [`${title}\n`, align([HEAD, ...rows]), "", ...reasonLines(requests, answers)].join("\n");
}

function cells(name: string, requests: readonly RequestReplay[], answers: readonly AnswerReplay[]): string[] {
  const refused = requests.filter((each) => each.refused !== undefined).length;
  const lost = requests.filter((each) => each.faults.length > 0).length;
  const bad = answers.filter(isBad).length;
  const kinds = (kind: string) =>
    answers.filter((each) => !isBad(each) && each.expected.kind === kind).length;
  const sums = [
    ...[requests.length, requests.length - refused - lost, refused, lost],
    ...[answers.length, kinds("answer"), kinds("error") + kinds("broken"), kinds("unasked"), bad],
  ];
  return [name, ...sums.map(String), ...CHUNKINGS.map((chunking) => ratio(answers, chunking))];
}

function isBad({ runs }: AnswerReplay): boolean {
  return runs.some((run) => run.faults.length > 0);
}

function ratio(answers: readonly AnswerReplay[], chunking: Chunking): string {
  const runs = answers.flatMap((answer) => answer.runs).filter((run) => run.chunking === chunking);
  const good = runs.filter((run) => run.faults.length === 0).length;
  return runs.length === 0 ? "-" : `${good}/${runs.length}`;
}

/** Every record that is not carried or not the same, under its reason. */
function reasonLines(requests: readonly RequestReplay[], answers: readonly AnswerReplay[]): string[] {
  const reasons = new Map<string, string[]>();
  const note = (reason: string, { vendor, id }: Recording) =>
    reasons.set(reason, [...(reasons.get(reason) ?? []), `${vendor} ${id}`]);
  for (const { recording, refused } of requests) if (refused) note(`refused with 400: ${refused}`, recording);
  for (const { recording, expected } of answers) {
    if (expected.kind === "unasked") note(`unasked: ${expected.why}`, recording);
    if (expected.kind === "broken") note(`an error for the client: ${expected.why.slice(0, 90)}`, recording);
  }
  return [...reasons].map(([reason, ids]) => `  ${ids.length}  ${reason}\n     ${ids.join(", ")}`);
}

function nameOf({ vendor, api, id }: Recording): string {
  return `${vendor} ${api} ${id}`;
}
