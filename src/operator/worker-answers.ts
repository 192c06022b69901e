/** Answers of a worker to the questions that the keeper asks it for the operator's API. */
import type { ModelCheck, ModelState, Question } from "../ledger/messages.ts";
import type { ProviderFacts } from "../ledger/provider-facts.ts";
import type { ConfigSource, EffectiveConfig, Reloaded } from "./config.ts";
import type { Frozen } from "./contract.ts";
import type { KnownModel, Models, Routing } from "./routing.ts";

interface WorkerAnswers {
  routing: Routing;
  models: Models;
  "model-facts": readonly KnownModel[];
  "stored-models": readonly ModelState[];
  "check-model": ModelCheck;
  /** The patterns that match no model. */
  unmatched: readonly string[];
  providers: ProviderFacts;
  config: EffectiveConfig;
  "config-source": ConfigSource;
  reload: Reloaded;
  settled: null;
  /** Whether the worker lends the key. */
  lend: boolean;
}

/** The answer to a question, which travels as JSON. */
export type AnswerTo<Asked extends Question> = Frozen<WorkerAnswers[Asked["what"]]>;
