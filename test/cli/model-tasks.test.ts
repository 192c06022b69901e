/** `weir models` and `weir models NAME` for models that do something else than chat. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { tmpdir } from "node:os";
import { runCommand } from "../helpers/command.ts";

setDefaultTimeout(120_000);

const env = { COHERE_API_KEY: "k", COHERE_BASE_URL: "http://127.0.0.1:1" };
const run = (...args: string[]) => runCommand(["models", ...args], { cwd: tmpdir(), env });

test("the list has what each model does", async () => {
  const { models } = JSON.parse((await run("--json")).out) as { models: { id: string; does: string[] }[] };
  const does = Object.fromEntries(models.map((model) => [model.id, model.does]));
  expect(does).toMatchObject({
    ...{ "mock/rerank": ["rerank"], "mock/embed": ["embedding"], "rerank-v4.0-pro": ["rerank"] },
    ...{ "embed-v4.0": ["embedding"], "command-a-03-2025": ["chat"] },
  });
  const { out } = await run();
  expect(out).toMatch(/^model +provider +does +context window/m);
  expect(out).toMatch(/^rerank-v4\.0-pro +cohere +rerank +32,768 tokens +\$0\.0025 a search *$/m);
});

test("a model that only ranks is explained with the dialect and the address of its provider", async () => {
  const explained = JSON.parse((await run("cohere/rerank-v4.0-pro", "--json")).out) as {
    does: string[];
    served: object[];
    plan: { url: string }[];
  };
  expect(explained.does).toEqual(["rerank"]);
  const url = "http://127.0.0.1:1/v2/rerank";
  expect(explained.served).toEqual([
    {
      ...{ client: "cohere-rerank", provider: "cohere", model: "rerank-v4.0-pro", lane: "native", url },
      reason: "pattern cohere/* of cohere",
    },
  ]);
  expect(explained.plan.map((target) => target.url)).toEqual([url]);
  const { out } = await run("cohere/rerank-v4.0-pro");
  expect(out).toMatch(/^ +does +rerank$/m);
  expect(out).toMatch(/^ +price +\$0\.0025 a search$/m);
});

test("a model that does several things has a row for each", async () => {
  const { served } = JSON.parse((await run("mock/error-429", "--json")).out) as {
    served: { client: string }[];
  };
  const clients = served.map(({ client }) => client);
  for (const client of ["chat-completions", "messages", "embedding", "completion", "rerank", "moderation"])
    expect(clients).toContain(client);
});
