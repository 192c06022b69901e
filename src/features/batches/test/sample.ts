/** A batch for tests. */
import type { Batch } from "../batch.ts";

/** @param facts what differs from a batch of three lines whose input is being checked */
export function sampleBatch(facts: Partial<Batch> = {}): Batch {
  return {
    id: "01je8z6v3kq5x7n2m4p9r1s0tw",
    path: "/eng",
    endpoint: "/v1/chat/completions",
    state: "checking",
    how: "run",
    window: 86_400_000,
    metadata: {},
    inputFile: "01jd8z6v3kq5x7n2m4p9r1s0tw",
    lines: 3,
    done: 0,
    failed: 0,
    cancelled: 0,
    late: 0,
    createdAt: Date.UTC(2026, 10, 22, 19, 38, 42, 250),
    deadline: Date.UTC(2026, 10, 23, 19, 38, 42, 250),
    faults: [],
    usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
    cost: 0,
    held: 0,
    ...facts,
  };
}
