/** Rules for the facts of a format's requests: cost, options, headers of rate limits. */
import type { SettingMember, SettingMembers } from "../core/format.ts";
import { isObject } from "../core/json.ts";
import type { RateHeaders } from "../core/limit-figures.ts";
import type { SizeMembers } from "../core/size-members.ts";
import { callable, group, must, required, type Table, text, texts, textOrTexts } from "./rules.ts";

export const SIZE: Table<SizeMembers> = {
  maxTokens: required(texts),
  within: texts,
  choices: textOrTexts,
  listed: text,
  tier: text,
  speed: text,
  tools: required(texts),
  serverToolTypes: required(texts),
  serverToolKeys: texts,
  serverMembers: texts,
  opaque: texts,
  media: must("an object", isObject),
};

export const RATE_HEADERS: Table<RateHeaders> = { prefix: required(text), write: required(callable) };

const SETTING = group<SettingMember>("the setting's", { at: required(texts), unless: texts });

export const SETTINGS: Table<SettingMembers> = {
  temperature: SETTING,
  topP: SETTING,
  maxTokens: SETTING,
  reasoningEffort: SETTING,
};
