/** Keeps the beginning of prompts, as far as clients see: the name says how many tokens, so that the mock remembers nothing. */
import type { CacheAnswer, CacheRequest, CallView, ChatRequest } from "weir";
import { behaveFor } from "./behave.ts";
import { countTokens } from "./tokens.ts";

const PREFIX = "cachedContents/mock-";

export async function cache(request: CacheRequest, call: CallView): Promise<CacheAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const tokens = countTokens(JSON.stringify(request.prompt));
  const name = `${PREFIX}${tokens}-${crypto.randomUUID()}`;
  const now = Date.now();
  const expires = now + Math.round(request.seconds * 1_000);
  const facts = {
    ...{
      name,
      model: `models/mock/${model}`,
      ...(request.displayName && { displayName: request.displayName }),
    },
    ...{ createTime: new Date(now).toISOString(), updateTime: new Date(now).toISOString() },
    ...{ expireTime: new Date(expires).toISOString(), usageMetadata: { totalTokenCount: tokens } },
  };
  const units = { cached_token_hour: Math.ceil((tokens * request.seconds) / 3_600) };
  return { name, tokens, expires, facts, model, usage: { input: tokens, units } };
}

/** Tokens that a request reads from what it names; 0 if it names nothing of the mock. */
export function cachedTokens({ extra }: ChatRequest): number {
  const name = extra["gemini"]?.["cachedContent"];
  const [, tokens] = /^cachedContents\/mock-(\d{1,9})-/.exec(typeof name === "string" ? name : "") ?? [];
  return Number(tokens ?? 0);
}
