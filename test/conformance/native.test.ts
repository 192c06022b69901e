/** Every recorded exchange of chat-completions and messages goes through the native lane as it goes direct. */
import { describe, expect, test } from "bun:test";
import { haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { replayNative } from "./native.ts";
import { faultLines, writeTable } from "./table.ts";

describe.skipIf(!haveRecordings)("native lane against the recordings", () => {
  test("same status, same bytes, same message in the SDKs, at every chunking", async () => {
    const list = ["chat", "messages"].flatMap((api) => recordings({ api }));
    const replays = await replayNative(list);
    console.log(writeTable(replays));
    expect(faultLines(replays)).toEqual([]);
    expect(replays.length).toBe(list.length);
  }, 900_000);
});

if (!haveRecordings) console.log(NO_RECORDINGS);
