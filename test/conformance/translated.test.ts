/** Every recorded request and answer of chat-completions and messages goes across to the other format. */
import { describe, expect, test } from "bun:test";
import { NO_DOCUMENT, haveDocument } from "../formats/chat-completions/openapi.ts";
import { haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { replayTranslated } from "./translated.ts";
import { translationFaults, writeTranslationTables } from "./translated-table.ts";

describe.skipIf(!haveRecordings || !haveDocument)("translated lanes against the recordings", () => {
  test("requests validate and lose nothing, answers say the same in the SDKs, at every chunking", async () => {
    const list = ["chat", "messages"].flatMap((api) => recordings({ api }));
    const translation = await replayTranslated(list);
    console.log(writeTranslationTables(translation));
    expect(translationFaults(translation)).toEqual([]);
    expect(translation.answers.length).toBe(list.length);
    expect(translation.requests.length).toBe(list.filter((recording) => recording.request?.body).length);
  }, 180_000);
});

if (!haveRecordings) console.log(NO_RECORDINGS);
else if (!haveDocument) console.log(NO_DOCUMENT);
