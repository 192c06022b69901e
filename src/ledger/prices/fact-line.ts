/** A line of `models.jsonl`: what is known about a model beside its prices, in few words. */
import type { Abilities, Modality, ModelFacts } from "../../core/model-facts.ts";
import type { NamedLine } from "./line-file.ts";

export interface FactLine extends NamedLine {
  /** Modalities with spaces between them: `text image`. */
  in?: string;
  out?: string;
  /** What the model does, if `out` does not show it: `rerank`. */
  does?: string;
  /** Abilities that the model has, and those that it does not have: `tools reasoning`. Others are unknown. */
  can?: string;
  cannot?: string;
  /** Limits in tokens, if the price book does not have them. */
  window?: number;
  maxOutput?: number;
  /** Day on which the provider turns the model off. */
  until?: string;
}

/** The facts of a line. */
export function factsOfLine(line: FactLine): ModelFacts {
  const { in: takes, out, does, can, cannot, window, maxOutput, until } = line;
  const abilities: Abilities = {};
  for (const name of wordsOf(cannot)) abilities[name as keyof Abilities] = false;
  for (const name of wordsOf(can)) abilities[name as keyof Abilities] = true;
  return {
    ...(window !== undefined && { contextWindow: window }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(takes !== undefined && { input: wordsOf(takes) as Modality[] }),
    ...(out !== undefined && { output: wordsOf(out) as Modality[] }),
    ...(does !== undefined && { does: [does] }),
    ...((can ?? cannot) !== undefined && { abilities }),
    ...(until !== undefined && { deprecatedOn: until }),
  };
}

function wordsOf(text = ""): string[] {
  return text === "" ? [] : text.split(" ");
}
