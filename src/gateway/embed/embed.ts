/**
 * One call for embeddings, from the client's request to its answer. Retries, circuit breakers and the deployments of a model
 * are those of every call. `fallbacks` never apply: the vectors of two models cannot be compared.
 */
import type { Attempt } from "../../core/call.ts";
import { planFor } from "../access.ts";
import type { Opened, OpenedJson } from "../lanes/lane.ts";
import { refuseLosses } from "../lanes/losses.ts";
import { tell } from "../lanes/receive.ts";
import { earlyViewOf } from "../plugins/call-view.ts";
import { runAdmitHooks } from "../plugins/early-hooks.ts";
import { embeddedBy } from "../plugins/sandbox.ts";
import { sizeOfInputs } from "../request-size.ts";
import { attempt } from "../retry/attempts.ts";
import type { Gateway } from "../types.ts";
import { embedNatively } from "./native.ts";
import { embedInParts } from "./parts.ts";
import type { IncomingEmbed } from "./types.ts";
import { Vectors } from "./vectors.ts";
import { wayOf } from "./way.ts";

/**
 * Runs the `admit` hooks, and tries the deployments of the model until one has embedded all inputs.
 * @throws GatewayError for a model that no provider embeds with, and when the last permitted attempt has failed
 */
export async function embed(incoming: IncomingEmbed, gateway: Gateway): Promise<Opened> {
  const { call, request } = incoming;
  call.asker = gateway.asker;
  await runAdmitHooks(
    earlyViewOf(call, () => undefined),
    gateway.hooks,
  );
  if (call.abortReason) throw call.abortReason;
  const vectors = new Vectors(request);
  return attempt(
    {
      call,
      plan: planFor(call, call.servingModel, gateway.registry, call.format, "embed"),
      // No prompt cache profits from one deployment: the calls are spread by weight.
      affinity: () => call.id,
      bytes: incoming.bytes.length,
      size: () => sizeOfInputs(request.inputs),
      open: (running, receiver) => tell(open(incoming, running, vectors, gateway), receiver),
    },
    gateway,
  );
}

/** One attempt. */
async function open(
  incoming: IncomingEmbed,
  running: Attempt,
  vectors: Vectors,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { request, client } = incoming;
  const { target } = running;
  if (target.substitute) running.reportLoss("substituted", "model", target.reason);
  const way = wayOf(incoming, running, gateway.registry);
  if (way?.isNative && vectors.isEmpty) return embedNatively(incoming, running, way, gateway);
  if (way) await embedInParts(request, running, vectors, way, gateway);
  else {
    refuseLosses(running, gateway);
    const answer = await embeddedBy(target.provider, request, running);
    running.firstByteAt = performance.now();
    vectors.add([...request.inputs.keys()], answer, running);
  }
  return openAnswer(client.writeAnswer(vectors.answer(running), request, running.call.startedAt), running);
}

function openAnswer(body: string, { call }: Attempt): OpenedJson {
  call.status = 200;
  return { kind: "json", status: 200, headers: { "content-type": "application/json" }, body };
}
