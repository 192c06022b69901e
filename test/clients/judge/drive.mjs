/** Makes one streamed call with a vendor's SDK: drive.mjs CLIENT URL MODEL. Prints the text; throws what the SDK throws. */
import { createRequire } from "node:module";
import { join } from "node:path";

// The packages are in the current folder, not beside this file.
const require = createRequire(join(process.cwd(), "package.json"));
const messages = [{ role: "user", content: "Say hello." }];
const apiKey = "none-needed";

const CLIENTS = {
  async openai(url, model) {
    const { OpenAI } = require("openai");
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
  },
  async anthropic(url, model) {
    const { Anthropic } = require("@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: url, apiKey });
    const stream = client.messages.stream({ model, max_tokens: 99, messages });
    stream.on("text", (text) => process.stdout.write(text));
    await stream.finalMessage();
  },
};

const [client, url, model] = process.argv.slice(2);
await CLIENTS[client](url, model);
