/** Clients made with the vendors' SDKs and sane settings go through all faults without a bad verdict. */
import { expect, test } from "bun:test";
import { FAULTS } from "../faults.ts";
import { clientCommand, drilled } from "./drilling.ts";

for (const client of ["openai", "anthropic", "google"])
  test(`a correct client with the SDK of ${client} has no bad verdict in twenty faults`, async () => {
    const { code, err, results } = await drilled(
      ["--timeout", "30", "--parallel", "6"],
      clientCommand(client),
    );
    const bad = [...results.values()].filter(({ verdict }) => verdict === "bad");
    expect(bad).toEqual([]);
    expect([results.size, FAULTS.length]).toEqual([20, 20]);
    expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  }, 240_000);
