/** The figures of the last hour. */
import { expect, test } from "bun:test";
import { Pulse } from "../../../src/keeper/reports/pulse.ts";
import { call } from "./make.ts";

const NOW = 1_800_000_000_000;

test("what weir answered before it asked a provider is rejected, and no failure", () => {
  const pulse = new Pulse(NOW);
  const attempts = call().attempts;
  pulse.add(
    [
      call(),
      call({ outcome: "failed", status: 502, attempts }),
      // The provider refused the request.
      call({ outcome: "failed", status: 400, attempts }),
      call({ outcome: "failed", status: 429, attempts: [], refused: "budget" }),
      call({ outcome: "failed", status: 404, attempts: [] }),
      // weir itself failed.
      call({ outcome: "failed", status: 503, attempts: [] }),
    ],
    NOW,
  );
  expect(pulse.hour(NOW)).toMatchObject({ calls: 6, failed: 3, rejected: 2 });
});
