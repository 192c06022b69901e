/** Reading a stored answer: the guards of its model look at it, and its values come back. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(60_000);

let state: string;
let gateway: RunningGateway;

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "weir-guards-stored-"));
  gateway = await startGateway({
    config: {
      state,
      responses: { store: "on" },
      aliases: { masked: "mock/echo" },
      guards: {
        out: { find: ["email"], do: "mask", on: ["output"], models: ["mock/echo"] },
        other: { find: [{ name: "word", pattern: "Write" }], do: "mask", models: ["openai/*"] },
        back: { find: ["card"], do: "replace", models: ["mock/*"] },
      },
    },
  });
  await gateway.opened();
});

afterAll(async () => {
  await gateway.stop();
  await rm(state, { recursive: true, force: true });
});

async function ask(body: object): Promise<{ id: string; text: string }> {
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { id: (JSON.parse(text) as { id: string }).id, text };
}

const INPUT = "Write to anna@example.com with 4111 1111 1111 1111.";

for (const model of ["mock/echo", "masked"])
  test(`an answer of ${model} is read as it was given`, async () => {
    const { id, text } = await ask({ model, input: INPUT, store: true });
    const read = await (await fetch(`${gateway.url}/v1/responses/${id}`)).text();
    for (const got of [text, read]) {
      expect(got).toContain("Write to [EMAIL] with 4111 1111 1111 1111.");
      expect(got).not.toContain("anna@");
    }
  });
