/** A tape has an answer with all that tools returned in it, as one call: a replay runs no tool. */
import { expect, test } from "bun:test";
import { startGateway } from "../../../../../test/helpers/gateway.ts";
import type { TapeEntry } from "../../../../gateway/recording/entry.ts";
import { Recorder } from "../../../../gateway/recording/recorder.ts";
import type { NamedPart, WorkerHost, WorkerPart } from "../../../../gateway/seams.ts";
import { aroundTape } from "../../../../gateway/tape.ts";
import { benchPart } from "./bench.ts";
import { startModel } from "./model.ts";
import { findTea, shop } from "./stage.ts";

test.each([[false], [true]])("(stream: %p)", async (stream) => {
  const entries: TapeEntry[] = [];
  const tape = new Recorder({
    write: (entry) => entries.push(entry),
    mask: (text) => text,
    onLost: (sentence) => expect(sentence).toBe(""),
  });
  const part: NamedPart<WorkerHost, WorkerPart> = {
    name: "recording",
    load: async () => ({
      start: () => ({ seams: () => ({ around: { at: "tape", run: aroundTape(tape) } }) }),
    }),
  };
  const model = startModel(findTea);
  const workers = [part, benchPart(shop())];
  const gateway = await startGateway({ config: { providers: model.providers }, workers });
  const answer = await fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-tools": "shop" },
    body: JSON.stringify({ model: "messages/m", input: "Is there tea?", stream }),
  });
  const text = await answer.text();
  await gateway.stop();
  model.stop();
  expect(entries.map(({ answer: pieces, status }) => [status, pieces.join("")])).toEqual([[200, text]]);
  expect(text).toContain("found tea");
});
