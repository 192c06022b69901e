/** Notes of a part of the gateway beside a stored answer reach it with the request that continues the answer. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NamedPart, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { makeStage } from "../helpers/places.ts";
import { openaiClient } from "../helpers/sdk.ts";

const { gateway } = makeStage();
const state = await mkdtemp(join(tmpdir(), "weir-notes-"));
const config = { state, responses: { store: "on" } };
afterAll(() => rm(state, { recursive: true, force: true }));

/** A part that answers with the notes it finds, and keeps the number of the turn. */
const counting = (name: string, keeps = true): NamedPart<WorkerHost, WorkerPart> => ({
  name,
  load: async () => ({
    start: ({ answerNotes }) => ({
      seams: () => ({
        hooks: {
          intercept(call) {
            const found = answerNotes.of(call).map((bytes) => new TextDecoder().decode(bytes));
            // Later bytes of a call replace earlier ones.
            for (const text of keeps ? ["begun", `turn ${found.length + 1}`] : [])
              answerNotes.keep(call, new TextEncoder().encode(text));
            return { answer: `${name}: ${found.join(", ")}` };
          },
        },
      }),
    }),
  }),
});

test("of a chain, streamed or not, over a restart, until the answer is deleted", async () => {
  const options = { workers: [counting("counting")] };
  const first = await gateway(config, options);
  const client = openaiClient(first.url);
  const one = await client.responses.create({ model: "mock/chat", input: "a", store: true });
  expect(one.output_text).toBe("counting: ");
  const two = await client.responses
    .stream({ model: "mock/chat", input: "b", store: true, previous_response_id: one.id })
    .finalResponse();
  expect(two.output_text).toBe("counting: turn 1");
  await first.stop();

  const second = await gateway(config, options);
  const again = openaiClient(second.url);
  const ask = (previous: string) =>
    again.responses.create({ model: "mock/chat", input: "c", previous_response_id: previous });
  expect((await ask(two.id)).output_text).toBe("counting: turn 1, turn 2");
  expect((await ask(one.id)).output_text).toBe("counting: turn 1");
  expect((await again.responses.create({ model: "mock/chat", input: "d" })).output_text).toBe("counting: ");
  await again.responses.delete(two.id);
  const gone = await ask(two.id).catch((fault: Error) => fault.message);
  expect(gone).toContain(two.id);
  await second.stop();

  // Another part does not see them.
  const third = await gateway(config, { workers: [counting("other", false)] });
  const other = await openaiClient(third.url).responses.create({
    model: "mock/chat",
    input: "e",
    previous_response_id: one.id,
  });
  expect(other.output_text).toBe("other: ");
});
