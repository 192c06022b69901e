/**
 * The mock provider, a program plugin. It needs no key and no network, gives equal requests equal answers, and can fail in
 * every way a provider fails, to test clients.
 */
import type { CallView, ChatEvent, ChatRequest } from "weir";
import { definePlugin } from "weir";
import { planAnswer } from "./answer.ts";
import { cache, cachedTokens } from "./cache.ts";
import { countInput } from "./count.ts";
import { decision } from "./decision.ts";
import { embed } from "./embed.ts";
import { image } from "./image.ts";
import { moderation } from "./moderation.ts";
import { realtime } from "./realtime.ts";
import { rerank } from "./rerank.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";
import { findBehaviour, mockDoes, mockModels } from "./models.ts";
import { playAnswer } from "./play.ts";
import { makeId, seedOf } from "./seed.ts";
import { wait, waitForAbort } from "./wait.ts";

export { CANARY } from "./faults.ts";
export { mockModels } from "./models.ts";

/** The model behind the bare name `mock`. */
const DEFAULT_MODEL = "chat";

async function* generate(request: ChatRequest, call: CallView): AsyncGenerator<ChatEvent> {
  const model = call.target?.model ?? request.model.replace(/^mock\//, "");
  const behaviour = findBehaviour(model === "mock" ? DEFAULT_MODEL : model);
  if (behaviour.silent) await waitForAbort(call.signal);
  if (behaviour.startAfter) await wait(behaviour.startAfter, call.signal);
  if (behaviour.fail) throw behaviour.fail;
  const seed = seedOf(request);
  const usage = countInput(request);
  usage.cacheRead += cachedTokens(request);
  yield { type: "message-start", id: `mock_${makeId(seed, "answer", 24)}`, model: request.model, usage };
  const plan = planAnswer(request, seed, behaviour.recipe ?? "chat", behaviour.length ?? 0);
  yield* playAnswer(plan, usage, behaviour, call.signal);
}

export const mock = definePlugin({
  name: "mock",
  providers: [
    {
      name: "mock",
      models: ["mock", "mock/*"],
      generate,
      embed,
      does: { completion: true, rerank, moderation, decision, image, realtime, cache, speech, transcription },
      modelDoes: mockDoes,
      catalog: mockModels.map((model) => model.example ?? model.name),
    },
  ],
});

export default mock;
