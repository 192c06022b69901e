/** What-if: the command `weir whatif`, the cost of past calls at the prices of other models. */
import { CONNECT_FLAGS, FILTER_FLAGS, JSON_FLAG } from "../../cli/command.ts";
import type { Feature } from "../../feature/feature.ts";

export const whatIf: Feature = {
  name: "what-if",
  commands: [
    {
      name: "whatif",
      after: ["prices check"],
      summary: "show what past calls would have cost at other models' prices",
      words: [],
      flags: [
        {
          name: "--map",
          value: "PAIRS",
          help: "other models by model: 'gpt-5.4=anthropic/claude-sonnet-5'",
        },
        { name: "--since", value: "TIME", help: "30d (default), 24h, or a day: 2026-11-01" },
        ...FILTER_FLAGS,
        JSON_FLAG,
        ...CONNECT_FLAGS,
      ],
      run: () => import("./cli.ts"),
    },
  ],
};
