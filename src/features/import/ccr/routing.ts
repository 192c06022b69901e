/** `Router` of version 3: rules that rewrite the name of the model, and what is asked after a failure. */
import type { Reading } from "../reader.ts";
import { count } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import type { FindModel } from "./providers.ts";

const MODEL = "request.body.model";
const MOST_ATTEMPTS = 10;

export function readRouting(reading: Reading, router: SourceNode | undefined, found: FindModel): void {
  for (const rule of router?.member("rules")?.items ?? []) readRule(reading, rule, found);
  router?.member("builtInRules")?.dropped("weir has no rules for agents");
  readFallback(reading, router?.member("fallback"), found);
}

/** A rule about the name of the model is an alias; weir has no others. */
function readRule({ draft }: Reading, rule: SourceNode, found: FindModel): void {
  const condition = rule.member("condition");
  const operator = condition?.member("operator")?.text;
  const name = condition?.member("right") ?? rule.member("pattern");
  const isModel = rule.member("type")?.text === "model-prefix" || condition?.member("left")?.text === MODEL;
  const isPrefix = condition === undefined || operator === "starts-with";
  const rewrites = rule.member("rewrites")?.items ?? [];
  const target =
    rule.member("target") ?? rewrites.find((one) => one.member("key")?.text === MODEL)?.member("value");
  const use = target?.text === undefined ? undefined : found(target.text);
  const isOff = rule.member("enabled")?.value === false;
  const isAlias = isModel && (isPrefix || operator === "==") && rewrites.length <= 1;
  if (isOff || !isAlias || !use || !/^[\w.:/@+,-]{1,199}$/.test(name?.text ?? "")) {
    rule.dropped(
      isOff ? "the rule is off" : "weir chooses a model by its name",
      "a plugin with an early hook that chooses the model",
    );
    return;
  }
  const alias = `${name!.text}${isPrefix ? "*" : ""}`;
  draft.serve(alias, use, rule);
  for (const node of [name, target]) node?.taken(`aliases["${alias}"]`);
  rule.ignored("it is the alias");
}

function readFallback({ draft }: Reading, fallback: SourceNode | undefined, found: FindModel): void {
  const mode = fallback?.member("mode");
  const retries = fallback?.member("retryCount");
  const models = fallback?.member("models");
  if (mode?.text === "off") {
    for (const node of [mode, retries, models]) node?.ignored("it is off");
    return;
  }
  mode?.changed("weir repeats calls and tries fallbacks at once", "retries, fallbacks");
  if (retries && count(retries) !== undefined) {
    draft.set("retries.attempts", Math.min(MOST_ATTEMPTS, count(retries)! + 1), retries);
    retries.changed("weir counts all attempts of a call, also those at its fallbacks", "retries.attempts");
  }
  const names = (models?.items ?? []).flatMap((node, index) => {
    const use = found(node.text ?? "");
    if (!use) {
      node.dropped("Providers has no such provider", "fallbacks");
      return [];
    }
    const name = `ccr-fallback-${index + 1}`;
    draft.serve(name, use, node);
    node.taken('fallbacks["*"]');
    return [name];
  });
  if (names.length > 0) draft.set(["fallbacks", "*"], names, models);
}
