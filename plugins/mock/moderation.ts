/** Judges texts by words: a text has the categories whose words it has. */
import type { CallView, ModerationAnswer, ModerationRequest, ModerationResult } from "weir";
import { behaveFor } from "./behave.ts";
import { countTokens } from "./tokens.ts";

/** The words of each category; a word alone in the text is enough. */
const WORDS: Readonly<Record<string, RegExp>> = {
  harassment: /harass/i,
  "harassment/threatening": /harass\w* threat/i,
  hate: /\bhate/i,
  "hate/threatening": /\bhate\w* threat/i,
  illicit: /illicit/i,
  "illicit/violent": /illicit\w* violen/i,
  "self-harm": /self-harm/i,
  "self-harm/intent": /self-harm intent/i,
  "self-harm/instructions": /self-harm instruction/i,
  sexual: /sexual/i,
  "sexual/minors": /sexual\w* minor/i,
  violence: /violen/i,
  "violence/graphic": /graphic violen/i,
};

/** `mock/moderation` judges; the models that fail, fail here, too. */
export async function moderation(request: ModerationRequest, call: CallView): Promise<ModerationAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const texts = request.inputs.map((input) => input.texts.join("\n"));
  return {
    results: request.inputs.map((input, index) => judge(texts[index]!, input.images.length > 0)),
    usage: { input: texts.reduce((sum, text) => sum + countTokens(text), 0) },
    model: `mock/${model}`,
  };
}

function judge(text: string, hasImages: boolean): ModerationResult {
  const found = Object.entries(WORDS).map(([name, words]): [string, boolean] => [name, words.test(text)]);
  const each = <Value>(value: (is: boolean) => Value) =>
    Object.fromEntries(found.map(([name, is]) => [name, value(is)]));
  return {
    flagged: found.some(([, is]) => is),
    categories: each((is) => is),
    scores: each((is) => (is ? 0.99 : 0.01)),
    applied: each(() => (hasImages ? ["text", "image"] : ["text"])),
  };
}
