/** All probes, in the order in which they run: later ones depend on what earlier ones found. */
import type { Probe } from "../types.ts";
import { answers, limits, streaming } from "./basics.ts";
import { errorShape, tooLong } from "./errors.ts";
import { images, roles } from "./messages.ts";
import { choices, jsonMode, jsonSchema, logprobs, stop } from "./output.ts";
import { counting, embeddings, kinds, models, otherPaths } from "./paths.ts";
import { reasoning } from "./reasoning.ts";
import { history, parallel, strictTools, tools } from "./tools.ts";

/** Asked before all others: without an answer there is nothing to find out. */
export const FIRST: readonly Probe[] = [models, answers];

export const PROBES: readonly Probe[] = [
  ...FIRST,
  limits,
  streaming,
  reasoning,
  tools,
  parallel,
  strictTools,
  history,
  jsonSchema,
  jsonMode,
  images,
  roles,
  stop,
  choices,
  logprobs,
  embeddings,
  kinds,
  counting,
  otherPaths,
  errorShape,
  tooLong,
];
