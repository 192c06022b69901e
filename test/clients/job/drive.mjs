/** Does the job with a library: drive.mjs INSTALLED CLIENT URL MODEL TASK. Prints what the model says last. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [installed, client, url, model, task] = process.argv.slice(2);
// The packages are not beside this file.
const require = createRequire(join(installed, "package.json"));
const { z } = require("zod");
const baseURL = `${url}/v1`;
const apiKey = "none-needed";

const TOOLS = {
  read_file: {
    description: "Reads a file.",
    parameters: z.object({ path: z.string() }),
    execute: async ({ path }) => readFileSync(path, "utf8"),
  },
  write_file: {
    description: "Writes a file.",
    parameters: z.object({ path: z.string(), content: z.string() }),
    execute: async ({ path, content }) => {
      writeFileSync(path, content);
      return "written";
    },
  },
  run_command: {
    description: "Runs a command.",
    parameters: z.object({ command: z.string() }),
    execute: async ({ command }) => execFileSync("bash", ["-c", command], { encoding: "utf8" }),
  },
};

async function runAi(providerOptions) {
  const { createOpenAI } = require("@ai-sdk/openai");
  const { isStepCount, stepCountIs, streamText, tool } = require("ai");
  const tools = Object.fromEntries(
    Object.entries(TOOLS).map(([name, { parameters, ...rest }]) => [
      name,
      tool({ ...rest, inputSchema: parameters }),
    ]),
  );
  const stopWhen = (isStepCount ?? stepCountIs)(8);
  const result = streamText({
    ...{ model: createOpenAI({ baseURL, apiKey })(model), prompt: task, tools, stopWhen },
    ...{ maxRetries: 0, providerOptions: { openai: { reasoningSummary: "auto", ...providerOptions } } },
    onError: ({ error }) => {
      throw error;
    },
  });
  for await (const text of result.textStream) process.stdout.write(text);
}

const CLIENTS = {
  async agents() {
    const { OpenAI } = require("openai");
    const { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } = require("@openai/agents");
    setTracingDisabled(true);
    setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey, maxRetries: 0 }));
    const tools = Object.entries(TOOLS).map(([name, rest]) => tool({ name, ...rest }));
    const modelSettings = { store: false, providerData: { include: ["reasoning.encrypted_content"] } };
    const agent = new Agent({ name: "Worker", model, tools, modelSettings });
    const result = await run(agent, task, { stream: true });
    for await (const text of result.toTextStream({ compatibleWithNodeStreams: true }))
      process.stdout.write(text);
    await result.completed;
  },
  ai: () => runAi({}),
  aiStateless: () => runAi({ store: false }),
};

await CLIENTS[client]();
