/**
 * `bun run conformance [VENDOR …]`: replays the recordings through all lanes and prints the tables; 1 when one failed.
 * `bun run conformance --mutate [WORD]`: plants the faults of `mutations.ts` (those whose name holds the word) one by one and
 * prints which the replay kills; 1 when one survives.
 * `bun run conformance --mcp`: the official suite for tools, see `mcp/run.ts`.
 */
import { haveDocument, NO_DOCUMENT } from "../formats/chat-completions/openapi.ts";
import { haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { describeHostReplays } from "./host-answers.ts";
import { HOST_LANES } from "./host-lanes.ts";
import { ALL_MUTATIONS } from "./all-mutations.ts";
import { laneOf, mutate, survivors, verdictLine, writeVerdicts } from "./mutate.ts";
import { judgeTools } from "./mcp/run.ts";
import { replayNative } from "./native.ts";
import { describeResponsesAnswers, replayResponsesAnswers } from "./responses-answers.ts";
import { describeResponsesRequests, replayResponsesRequests } from "./responses-requests.ts";
import { replaySessions } from "./sessions.ts";
import { faultLines, writeTable } from "./table.ts";
import { replayTranslated } from "./translated.ts";
import {
  sessionFaults,
  translationFaults,
  writeSessions,
  writeTranslationTables,
} from "./translated-table.ts";

const words = process.argv.slice(2);
if (words[0] === "--mcp") process.exit(await judgeTools(words.slice(1)));
if (!haveRecordings || !haveDocument) {
  console.log(haveRecordings ? NO_DOCUMENT : NO_RECORDINGS);
  process.exit(0);
}
if (words[0] === "--mutate") {
  const apis = ["chat", "messages", "responses", "gemini", "bedrock", "bedrock_invoke", "embeddings"];
  const all = apis.flatMap((api) => recordings({ api }));
  const chosen = ALL_MUTATIONS.filter((mutation) =>
    `${laneOf(mutation)} ${mutation.name}`.includes(words[1] ?? ""),
  );
  const verdicts = await mutate(chosen, all, (verdict) => console.log(verdictLine(verdict)));
  console.log(`\n${writeVerdicts(verdicts)}`);
  process.exit(survivors(verdicts).length > 0 ? 1 : 0);
}
const vendors = words.length > 0 ? words : undefined;
const list = ["chat", "messages"].flatMap((api) => recordings({ api, vendors }));
const startedAt = performance.now();
const native = await replayNative(list);
const nativeSeconds = secondsSince(startedAt);
const translation = await replayTranslated(list);
const sessions = await replaySessions(list);
const responses = recordings({ api: "responses", vendors });
const asked = {
  chat: await replayResponsesRequests(responses, "chat"),
  messages: await replayResponsesRequests(responses, "messages"),
};
const answered = {
  responses: await replayResponsesAnswers(responses, "responses"),
  chat: await replayResponsesAnswers(responses, "chat"),
  messages: await replayResponsesAnswers(responses, "messages"),
};
const described: string[] = [];
let hostFaults = 0;
for (const lane of HOST_LANES) {
  const replays = await lane.replay(recordings({ api: lane.api, vendors }));
  hostFaults += replays.flatMap(({ faults }) => faults).length;
  described.push(`\n${describeHostReplays(lane.title, replays).join("\n")}`);
}
const seconds = secondsSince(startedAt);

console.log(`Native lane, ${list.length} recordings, ${nativeSeconds} s\n\n${writeTable(native)}\n`);
console.log(`${writeTranslationTables(translation)}\n\n${writeSessions(sessions)}\n\n${seconds} s in all`);
for (const api of ["chat", "messages"] as const)
  console.log(`\n${describeResponsesRequests(api, asked[api]).join("\n")}`);
for (const client of ["responses", "chat", "messages"] as const)
  console.log(`\n${describeResponsesAnswers(client, answered[client]).join("\n")}`);
console.log(described.join("\n"));
const replays = [...Object.values(asked), ...Object.values(answered)].flat();
const lost = replays.flatMap((replay) => replay.faults);
const faults = [...faultLines(native), ...translationFaults(translation), ...sessionFaults(sessions)];
if (faults.length > 0) console.log(`\n${faults.join("\n")}`);
process.exit(faults.length + lost.length + hostFaults > 0 ? 1 : 0);

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(1);
}
