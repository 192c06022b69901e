/** What a cell of the matrix cannot say: several turns, choices and calls, errors, fallbacks, counts, services that are not there. */
import type { ProofGateway } from "../gateway.ts";
import type { Failure } from "../judge.ts";
import { BESIDE } from "./beside.ts";
import { type Scenario, Stage } from "./stage.ts";
import { STREAMS } from "./streams.ts";
import { TURNS } from "./turns.ts";

export const SCENARIOS: readonly Scenario[] = [...STREAMS, ...TURNS, ...BESIDE];

/** Runs all scenarios at the same time. */
export async function playAll(
  gateway: ProofGateway,
): Promise<{ assertions: number; failures: Failure[]; values: string[] }> {
  const played = await Promise.all(
    SCENARIOS.map(async (scenario, at) => {
      const stage = new Stage(gateway, scenario.name, at);
      await scenario.run(stage).catch((fault: unknown) => stage.checks.that("it ends", false, String(fault)));
      return stage;
    }),
  );
  return {
    assertions: played.reduce((sum, { checks }) => sum + checks.count, 0),
    failures: played.flatMap(({ checks }) => checks.failures),
    values: played.flatMap(({ values }) => values),
  };
}
