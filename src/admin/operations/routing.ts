/** Who serves a model name, what a request would become, and calls from the console. */
import {
  explain,
  type Explained,
  listModelFacts,
  listModels,
  playground,
  RELAYED,
  routing,
} from "../../operator/routing.ts";
import { parseJson } from "../../core/json.ts";
import { endOf } from "../model-ends.ts";
import { answers } from "../operation.ts";
import { explainTrial, relayed, sendTrial } from "../relay.ts";

export const routingOperations = [
  answers(routing, async ({ books, params }) => ({
    json: await books.gateway.ask({ what: "routing", model: params.model }),
  })),
  answers(listModels, async ({ books }) => ({ json: await books.gateway.ask({ what: "models" }) })),
  answers(listModelFacts, async ({ books, query: { of = [] }, now }) => {
    const models = await books.gateway.ask({ what: "model-facts", models: of });
    return { json: { models: models.map((model) => ({ ...model, ...endOf(model, now) })) } };
  }),
  answers(explain, async (given) => {
    const response = await explainTrial(given, given.body);
    const body = parseJson(await response.text());
    return {
      json: {
        status: response.status,
        ...(response.ok ? { explained: body as Explained["explained"] } : { error: body ?? null }),
      },
    };
  }),
  answers(playground, async (given) => ({ relayed: relayed(await sendTrial(given, given.body), RELAYED) })),
];
