/** Providers and their deployments. */
import { invalid } from "../../operator/errors.ts";
import { answers } from "../operation.ts";
import { providersOf } from "../provider-view.ts";
import { listProviders } from "../../operator/providers.ts";

const HOUR_MS = 3_600_000;
/** Most slices of a series. */
const SLICES = 60;

export const providerOperations = [
  answers(listProviders, async ({ books, caller, query, now }) => {
    const to = query.to ?? now;
    const from = query.from ?? Math.max(0, to - HOUR_MS);
    if (to < from) throw invalid("to is before from.", "?to");
    const [facts, report] = await Promise.all([
      books.gateway.askAll({ what: "providers" }),
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
  }),
];
