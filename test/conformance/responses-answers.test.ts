/** The replay of recorded answers of responses providers, and that it sees faults. */
import { expect, test } from "bun:test";
import { haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { replayResponsesAnswers } from "./responses-answers.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const VENDORS = ["bedrock", "chatgpt", "copilot", "deepseek", "openrouter"];

test.if(haveRecordings)(
  "answers of five vendors reach clients of every format",
  async () => {
    const list = recordings({ api: "responses", vendors: VENDORS });
    for (const client of ["responses", "chat", "messages"] as const) {
      const replays = await replayResponsesAnswers(list, client, ["event"]);
      expect(replays.length).toBe(list.length);
      expect(replays.flatMap(({ faults }) => faults)).toEqual([]);
    }
  },
  600_000,
);

test.if(haveRecordings)(
  "an answer that says something else than the recording is a fault",
  async () => {
    const [recording] = recordings({ api: "responses", vendors: ["openrouter"] }).filter(
      ({ framing, response }) => framing === "json" && response.status === 200,
    );
    const changed = { ...recording!, response: { ...recording!.response, status: 500 } };
    const [replay] = await replayResponsesAnswers([changed], "chat", ["event"]);
    expect(replay!.refused).toBe("status 500");
  },
  600_000,
);
