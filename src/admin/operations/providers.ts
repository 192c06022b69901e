/** Providers and their deployments. */
import type { ProviderFacts } from "../../ledger/provider-facts.ts";
import { invalid } from "../../operator/errors.ts";
import { operation } from "../operation.ts";
import { providersOf } from "../provider-view.ts";
import { FILTER, request } from "../../operator/shapes.ts";
import { Providers } from "../../operator/providers.ts";

const HOUR_MS = 3_600_000;
/** Most slices of a series. */
const SLICES = 60;

export const providerOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/providers",
    id: "listProviders",
    summary: "Deployments: their circuit breakers, speed, failures and what they cost",
    description: "Of the last hour, if the request names no time.",
    access: "read",
    query: request({ from: FILTER.from, to: FILTER.to }),
    answer: { name: "Providers", schema: Providers },
    errors: ["gateway_failed"],
    async handle({ books, caller, query, now }) {
      const to = query.to ?? now;
      const from = query.from ?? Math.max(0, to - HOUR_MS);
      if (to < from) throw invalid("to is before from.", "?to");
      const [facts, report] = await Promise.all([
        books.gateway.askAll({ what: "providers" }) as Promise<readonly ProviderFacts[]>,
        books.deployments({ within: caller.path, from, to, slices: SLICES }),
      ]);
      const states = books.gateway.workers.map(({ state }) => state);
      const { sliceMs, searchedTo } = report;
      return {
        json: {
          ...{ from, to, sliceMs },
          ...(searchedTo !== undefined && { searchedTo }),
          providers: providersOf({ facts, states, report }),
        },
      };
    },
  }),
];
