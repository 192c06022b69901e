/** The same tools run and the same text comes, whatever the format of the client and that of the model. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import { type RunningGateway, startGateway } from "../../../../../test/helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../../../../../test/helpers/sdk.ts";
import { benchPart, type FakeBench } from "./bench.ts";
import { type Model, MODEL_FORMATS, startModel } from "./model.ts";
import { findTea, shop } from "./stage.ts";

let bench: FakeBench;
let model: Model;
let gateway: RunningGateway;

beforeAll(async () => {
  bench = shop();
  model = startModel(findTea);
  gateway = await startGateway({ config: { providers: model.providers }, workers: [benchPart(bench)] });
});

afterAll(async () => {
  await gateway.stop();
  model.stop();
});

const headers = { "x-weir-tools": "shop" };
const content = "Is there tea?";
const messages = [{ role: "user" as const, content }];

/** Each asks as its SDK does. @returns the text of the answer */
const CLIENTS: Readonly<Record<string, (name: string, stream: boolean) => Promise<string>>> = {
  async "chat-completions"(name, stream) {
    const { completions } = openaiClient(gateway.url, { headers }).chat;
    if (!stream)
      return (await completions.create({ model: name, messages })).choices[0]!.message.content ?? "";
    return (await completions.stream({ model: name, messages }).finalContent()) ?? "";
  },
  async responses(name, stream) {
    const { responses } = openaiClient(gateway.url, { headers });
    const asked = { model: name, input: content };
    const { output_text: text } = stream
      ? await responses.stream(asked).finalResponse()
      : await responses.create(asked);
    return text;
  },
  async messages(name, stream) {
    const { beta } = anthropicClient(gateway.url, { headers });
    const asked = { model: name, max_tokens: 100, messages };
    const message = stream
      ? await beta.messages.stream(asked).finalMessage()
      : await beta.messages.create(asked);
    return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  },
  async gemini(name, stream) {
    const { models } = new GoogleGenAI({
      apiKey: "unused",
      httpOptions: { baseUrl: gateway.url, headers },
    });
    const asked = { model: name, contents: content };
    if (!stream) return (await models.generateContent(asked)).text ?? "";
    let text = "";
    for await (const piece of await models.generateContentStream(asked)) text += piece.text ?? "";
    return text;
  },
  async ollama(name, stream) {
    const ollama = new Ollama({ host: gateway.url, headers });
    if (!stream) return (await ollama.chat({ model: name, messages })).message.content;
    let text = "";
    for await (const piece of await ollama.chat({ model: name, messages, stream: true }))
      text += piece.message.content;
    return text;
  },
};

for (const [client, ask] of Object.entries(CLIENTS))
  describe(client, () => {
    for (const format of MODEL_FORMATS)
      for (const stream of [false, true])
        test(`${format}, ${stream ? "as a stream" : "whole"}`, async () => {
          const before = { calls: bench.calls.length, turns: model.heard.length };
          const text = await ask(`${format}/m`, stream);
          expect(text.endsWith("I know: found tea")).toBeTrue();
          expect(bench.calls.slice(before.calls).map(({ name, arguments: input }) => [name, input])).toEqual([
            ["shop__find", { word: "tea" }],
          ]);
          expect(model.heard.slice(before.turns).map((one) => [one.format, one.results.join()])).toEqual([
            [format, ""],
            [format, "found tea"],
          ]);
        });
  });
