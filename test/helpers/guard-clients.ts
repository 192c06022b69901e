/** The programs' own libraries of vendors as clients of a guarded gateway: what a program believes of a streamed answer. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import OpenAI from "openai";

/** What a program has of an answer. */
export interface Believed {
  text: string;
  /** The library says that the answer is complete. */
  isFinished: boolean;
  /** The library throws. */
  error?: unknown;
}

type Read = (
  url: string,
  model: string,
  prompt: string,
  heard: (text: string) => void,
) => Promise<Pick<Believed, "isFinished">>;

const KEY = "none-is-needed";

const READERS: Readonly<Record<string, Read>> = {
  async "openai chat"(url, model, content, heard) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
    const stream = client.chat.completions.stream({ model, messages: [{ role: "user", content }] });
    for await (const { choices } of stream) heard(choices[0]?.delta.content ?? "");
    return { isFinished: (await stream.finalChatCompletion()).choices[0]?.finish_reason === "stop" };
  },
  async "openai responses"(url, model, input, heard) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
    let isFinished = false;
    for await (const event of await client.responses.create({ model, input, stream: true })) {
      if (event.type === "response.output_text.delta") heard(event.delta);
      isFinished ||= event.type === "response.completed";
      if (event.type === "response.failed") throw new Error(event.response.error?.message);
    }
    return { isFinished };
  },
  async anthropic(url, model, content, heard) {
    const client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 });
    const stream = client.messages.stream({ model, max_tokens: 500, messages: [{ role: "user", content }] });
    stream.on("text", heard);
    return { isFinished: (await stream.finalMessage()).stop_reason === "end_turn" };
  },
  async google(url, model, contents, heard) {
    const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
    let isFinished = false;
    for await (const piece of await client.models.generateContentStream({ model, contents })) {
      heard(piece.text ?? "");
      isFinished ||= piece.candidates?.[0]?.finishReason === "STOP";
    }
    return { isFinished };
  },
  async ollama(url, model, content, heard) {
    const client = new Ollama({ host: url });
    let isFinished = false;
    for await (const piece of await client.chat({
      ...{ model, stream: true },
      messages: [{ role: "user", content }],
    })) {
      heard(piece.message.content);
      isFinished ||= piece.done && piece.done_reason === "stop";
    }
    return { isFinished };
  },
};

export const LIBRARIES = Object.keys(READERS);

/** Asks as a program would, and notes what it has in the end. */
export async function believes(
  library: string,
  url: string,
  model: string,
  prompt: string,
): Promise<Believed> {
  const believed: Believed = { text: "", isFinished: false };
  try {
    const { isFinished } = await READERS[library]!(
      url,
      model,
      prompt,
      (text) => void (believed.text += text),
    );
    return { ...believed, isFinished };
  } catch (error) {
    return { ...believed, error };
  }
}
