/** What Continue's editor sends to complete code, and Mistral's SDK. Prompt and suffix come back as the fake host got them. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { WEIR_URL: url, WEIR_KEY: apiKey, FOLDER: folder } = process.env;
const require = createRequire(pathToFileURL(join(folder, "npm/package.json")));
const load = async (name, file) => import(pathToFileURL(join(folder, "npm/node_modules", name, file)).href);
const { constructLlmApi } = await load("@continuedev/openai-adapters", "dist/index.js");
const { Mistral } = await import(pathToFileURL(require.resolve("@mistralai/mistralai")).href);

const prompt = "def f(a):\n\t\u2028 \ud83d\ude00 \\";
const suffix = "\n    return x";
const both = JSON.stringify([prompt, suffix]);
let failed = 0;

async function check(promise, run) {
  let seen;
  try {
    seen = await run();
  } catch (thrown) {
    seen = [false, `${thrown}`];
  }
  failed += Number(!seen[0]);
  console.log(`${seen[0] ? "ok  " : "FAIL"}  ${promise}: ${seen[1]}`);
}

const adapter = (provider, base) => constructLlmApi({ provider, apiKey, apiBase: `${url}${base}` });
const signal = () => new AbortController().signal;
const asked = (model) => ({
  model,
  prompt,
  suffix,
  max_tokens: 32,
  temperature: 0,
  stop: ["\n\n"],
  stream: true,
});

const middle = (provider, base, model) => async () => {
  let text = "";
  for await (const { choices } of adapter(provider, base).fimStream(asked(model), signal()))
    text += choices[0]?.delta?.content ?? "";
  return [text === both, text];
};

for (const model of ["middle/m", "lm/m"]) {
  await check(`Continue, as Mistral's, the middle by ${model}`, middle("mistral", "/v1/", model));
  await check(`Continue, as DeepSeek's, the middle by ${model}`, middle("deepseek", "/", model));
}
await check("Continue, as OpenAI's, a streamed completion", async () => {
  let text = "";
  const request = { model: "lm/m", prompt: "abc", max_tokens: 4, stream: true };
  for await (const { choices } of adapter("openai", "/v1/").completionStream(request, signal()))
    text += choices[0]?.text ?? "";
  return [text.length === 4, text.length];
});
for (const [provider, host] of [
  ["cohere", "xjina"],
  ["jina", "xcohere"],
  ["voyage", "xvoyage"],
])
  await check(`Continue, as ${provider}'s, a ranking by ${host}`, async () => {
    const documents = ["0.10 a", "0.9000 c"];
    const answer = await adapter(provider, "/v1/").rerank({ model: `${host}/m`, query: "q", documents });
    const [found] = answer.results ?? answer.data;
    // Continue drops the indices of Jina's results, and numbers them anew.
    const index = provider === "jina" ? 0 : 1;
    return [found.relevance_score === 0.9 && found.index === index, JSON.stringify(found)];
  });

const mistral = new Mistral({ apiKey, serverURL: url, retryConfig: { strategy: "none" } });
for (const model of ["middle/m", "lm/m"]) {
  await check(`@mistralai/mistralai, fim.complete by ${model}`, async () => {
    const { choices } = await mistral.fim.complete({ model, prompt, suffix, maxTokens: 32 });
    return [choices[0].message.content === both, choices[0].message.content];
  });
  await check(`@mistralai/mistralai, fim.stream by ${model}`, async () => {
    let text = "";
    for await (const { data } of await mistral.fim.stream({ model, prompt, suffix, maxTokens: 32 }))
      text += data.choices[0]?.delta.content ?? "";
    return [text === both, text];
  });
}
await check("@mistralai/mistralai, an error has its sentence", async () => {
  const thrown = await mistral.fim.complete({ model: "nowhere/m", prompt }).catch((error) => error);
  return [
    thrown.statusCode === 404 && thrown.body.includes("nowhere/m"),
    `${thrown.name} ${thrown.statusCode}`,
  ];
});
await check("@mistralai/mistralai, moderations", async () => {
  const { results } = await mistral.classifiers.moderate({
    model: "mock/moderation",
    inputs: ["nice", "violence"],
  });
  return [results.map(({ categories }) => categories.violence).join() === "false,true", results.length];
});
await check("@mistralai/mistralai, moderations of a conversation", async () => {
  const inputs = [{ role: "user", content: "violence" }];
  const { results } = await mistral.classifiers.moderateChat({ model: "mock/moderation", inputs });
  return [results[0].categories.violence === true, results.length];
});
process.exit(failed > 0 ? 1 : 0);
