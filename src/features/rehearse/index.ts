/** Rehearse: the command `weir rehearse`, which of the calls of now another config or another build would answer otherwise. */
import { CONFIG_FLAGS, JSON_FLAG } from "../../cli/command.ts";
import type { Feature } from "../../feature/feature.ts";
import { outlines } from "./metrics.ts";
import { rehearseSection } from "./section.ts";
import { REHEARSE_FLAGS } from "./flags.ts";

export const rehearse: Feature = {
  name: "rehearse",
  section: rehearseSection,
  metrics: [outlines],
  commands: [
    {
      name: "rehearse",
      after: ["explain"],
      summary:
        "show which of the last calls another config or another build of weir would answer otherwise, without a call",
      words: [],
      flags: [...CONFIG_FLAGS, ...REHEARSE_FLAGS, JSON_FLAG],
      run: () => import("./cli.ts"),
    },
  ],
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
  admin: () => import("./page/admin.ts"),
};
