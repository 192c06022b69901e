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
import baseten from "./baseten.ts";
import cerebras from "./cerebras.ts";
import cohere from "./cohere.ts";
import deepinfra from "./deepinfra.ts";
import deepseek from "./deepseek.ts";
import fireworks from "./fireworks.ts";
import foundry from "./foundry.ts";
import gemini from "./gemini.ts";
import github from "./github.ts";
import geminiTuned from "./gemini-tuned.ts";
import geminiOpenai from "./gemini-openai.ts";
import groq from "./groq.ts";
import huggingface from "./huggingface.ts";
import litellm from "./litellm.ts";
import llamacpp from "./llamacpp.ts";
import lmstudio from "./lmstudio.ts";
import minimax from "./minimax.ts";
import mistral from "./mistral.ts";
import mock from "./mock/index.ts";
import moonshot from "./moonshot.ts";
import novita from "./novita.ts";
import nvidia from "./nvidia.ts";
import ollama from "./ollama.ts";
import openai from "./openai.ts";
import openrouter from "./openrouter.ts";
import perplexity from "./perplexity.ts";
import qwen from "./qwen.ts";
import sambanova from "./sambanova.ts";
import sglang from "./sglang.ts";
import tgi from "./tgi.ts";
import together from "./together.ts";
import vertex from "./vertex.ts";
import vllm from "./vllm.ts";
import weir from "./weir.ts";
import voyage from "./voyage.ts";
import xai from "./xai.ts";
import zhipu from "./zhipu.ts";

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
  vertex,
  geminiTuned,
  geminiOpenai,
  together,
  perplexity,
  nvidia,
  sambanova,
  huggingface,
  github,
  moonshot,
  qwen,
  zhipu,
  minimax,
  cohere,
  baseten,
  deepinfra,
  novita,
  voyage,
  ollama,
  vllm,
  llamacpp,
  lmstudio,
  sglang,
  tgi,
  litellm,
  weir,
  mock,
];
