/** What each model supports on `/v1/chat/completions`. */
export {
  COMMON_EFFORTS,
  modelFacts,
  type ModelFacts,
  nearestEffort,
  takesSampling,
} from "../shared/openai-models.ts";
