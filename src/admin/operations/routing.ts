/** Who serves a model name, what a request would become, and calls from the console. */
import { parseJson } from "../../core/json.ts";
import { operation } from "../operation.ts";
import { explainTrial, relayed, sendTrial } from "../relay.ts";
import { Explained, Models, RELAYED, Routing, Trial } from "../../operator/routing.ts";

export const routingOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/routing/{model}",
    id: "routing",
    summary: "The plan for a model name, and how its deployments are",
    access: "read",
    answer: { name: "Routing", schema: Routing },
    errors: ["gateway_failed"],
    handle: async ({ books, params }) => ({
      json: await books.gateway.ask({ what: "routing", model: params["model"]! }),
    }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/models",
    id: "listModels",
    summary: "The names of models and routes, and the formats of clients",
    access: "read",
    answer: { name: "Models", schema: Models },
    errors: ["gateway_failed"],
    handle: async ({ books }) => ({ json: await books.gateway.ask({ what: "models" }) }),
  }),
  operation({
    method: "POST",
    path: "/admin/v1/explain",
    id: "explain",
    summary: "What the gateway would send for a request, and what it may cost; nothing is sent",
    access: "read",
    alone: true,
    body: Trial,
    answer: { name: "Explained", schema: Explained },
    errors: ["not_found", "gateway_failed"],
    async handle(given) {
      const response = await explainTrial(given, given.body);
      const body = parseJson(await response.text());
      return {
        json: { status: response.status, ...(response.ok ? { explained: body } : { error: body ?? null }) },
      };
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/playground",
    id: "playground",
    summary: "Makes a call, which is booked as any other; answers what the gateway answers",
    description: `An answer of the gateway has the header \`${RELAYED}: 1\`; without it the answer is an error of this API.`,
    access: "write",
    alone: true,
    body: Trial,
    answer: { text: "*/*" },
    errors: ["not_found", "gateway_failed"],
    handle: async (given) => ({ relayed: relayed(await sendTrial(given, given.body), RELAYED) }),
  }),
];
