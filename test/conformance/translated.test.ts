/** Every recorded request and answer of chat-completions and messages goes across to the other format. */
import { describe, expect, test } from "bun:test";
import { NO_DOCUMENT, haveDocument } from "../formats/chat-completions/openapi.ts";
import { haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { replaySessions } from "./sessions.ts";
import { replayTranslated } from "./translated.ts";
import {
  sessionFaults,
  translationFaults,
  writeSessions,
  writeTranslationTables,
} from "./translated-table.ts";

describe.skipIf(!haveRecordings || !haveDocument)("translated lanes against the recordings", () => {
  test("requests validate and lose nothing, answers say the same in the SDKs, at every chunking", async () => {
    const list = ["chat", "messages"].flatMap((api) => recordings({ api }));
    const translation = await replayTranslated(list);
    console.log(writeTranslationTables(translation));
    expect(translationFaults(translation)).toEqual([]);
    expect(translation.answers.length).toBe(list.length);
    expect(translation.requests.length).toBe(list.filter((recording) => recording.request?.body).length);
  }, 900_000);

  test("sessions: every turn brings back what was answered before, and is written as it was", async () => {
    const sessions = await replaySessions(["chat", "messages"].flatMap((api) => recordings({ api })));
    console.log(writeSessions(sessions));
    expect(sessionFaults(sessions)).toEqual([]);
    expect(sessions.length).toBeGreaterThan(100);
  }, 600_000);
});

if (!haveRecordings) console.log(NO_RECORDINGS);
else if (!haveDocument) console.log(NO_DOCUMENT);
