/**
 * The built-in plugins in load order, as a list of imports, because the bundler includes only static imports.
 *
 * A base URL is the one that the SDK of the format takes: for OpenAI's the part before `/chat/completions`
 * (`https://api.groq.com/openai/v1`), for Anthropic's the part before `/v1/messages`.
 */
import type { Plugin } from "weir";
import anthropic from "./anthropic.ts";
import azure from "./azure.ts";
import bedrock from "./bedrock.ts";
import bedrockMantle from "./bedrock-mantle.ts";
import cerebras from "./cerebras.ts";
import deepseek from "./deepseek.ts";
import fireworks from "./fireworks.ts";
import foundry from "./foundry.ts";
import gemini from "./gemini.ts";
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
  gemini,
  bedrock,
  bedrockMantle,
  deepseek,
  mistral,
  xai,
  groq,
  cerebras,
  fireworks,
  openrouter,
  azure,
  foundry,
  together,
  ollama,
  vllm,
  llamacpp,
  lmstudio,
  mock,
];
