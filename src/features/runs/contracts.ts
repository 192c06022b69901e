/** Runs for operators. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, nano, time } from "../../operator/shapes.ts";

const Sums = answer({
  calls: Type.Integer({ description: "Answers of models." }),
  tools: Type.Integer({ description: "Calls of tools by the client." }),
  input: Type.Integer({ description: "Tokens of prompts, with those of caches." }),
  output: Type.Integer(),
  cost: nano(""),
  unknown: Type.Integer({ description: "Calls whose cost is not known; `cost` is without them." }),
  failed: Type.Integer(),
});

export const RunRow = answer({
  run: Type.String({ description: "Its id." }),
  at: Type.Optional(time("When its last entry was written.")),
  fork: Type.Optional(
    answer(
      {
        parent: Type.String({ description: "Id of the run, or its file." }),
        at: Type.Integer({ description: "Number of the first entry that is not from the parent." }),
        model: Type.String({ description: "The model that answered from there on." }),
        tools: Type.String({ description: "Which tools ran from there on: `tape`, `readonly`, `live`." }),
      },
      { description: "Absent: it was recorded from its beginning." },
    ),
  ),
  all: Sums,
  own: Sums,
  last: Type.String({ description: "The last text of the model." }),
});
export type RunRow = Static<typeof RunRow>;

export const listRuns = contract({
  method: "GET",
  path: "/admin/v1/runs",
  id: "listRuns",
  summary: "The runs in the state folder, each followed by its forks, with their sums",
  description:
    "`own` is without what came from the tape of the parent. Each look leaves an entry in the audit log.",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "RunList", schema: answer({ runs: Type.Array(RunRow) }) },
});
