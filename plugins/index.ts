/**
 * The shipped plugins, in the order they are loaded. A list, because the bundler only sees what is written out.
 *
 * A base URL means what it means to the SDK of the format that is spoken there: OpenAI's ends where
 * `/chat/completions` begins (`https://api.groq.com/openai/v1`), Anthropic's where `/v1/messages` does.
 */
import type { Plugin } from "weir";
import anthropic from "./anthropic.ts";
import cerebras from "./cerebras.ts";
import deepseek from "./deepseek.ts";
import fireworks from "./fireworks.ts";
import groq from "./groq.ts";
import llamacpp from "./llamacpp.ts";
import lmstudio from "./lmstudio.ts";
import mistral from "./mistral.ts";
import mock from "./mock/index.ts";
import ollama from "./ollama.ts";
import openai from "./openai.ts";
import openrouter from "./openrouter.ts";
import together from "./together.ts";
import vllm from "./vllm.ts";
import xai from "./xai.ts";

export const builtIn: readonly Plugin[] = [
  openai,
  anthropic,
  deepseek,
  mistral,
  xai,
  groq,
  cerebras,
  fireworks,
  openrouter,
  together,
  ollama,
  vllm,
  llamacpp,
  lmstudio,
  mock,
];
