/** Tapes: recorded calls. */
import { expressionFaults } from "../../config/slow-expression.ts";
import { section } from "../../config/section.ts";
import { Type } from "@sinclair/typebox";
import { CLOSED } from "../../config/sections/kinds.ts";

export const tapeSection = section(
  "tape",
  Type.Object(
    {
      ignore: Type.Array(Type.String(), {
        default: [],
        examples: [["/tmp/[\\w-]+", "pid \\d+"]],
        description:
          "Regular expressions of what differs with each run: folders, names, numbers. They do not count when the requests of a client are compared with those on a tape. Dates do not count anyway, nor do times and ids in the results of tools.",
      }),
      mask: Type.Array(Type.String(), {
        default: [],
        examples: [["[\\w.]+@example\\.com"]],
        description:
          "Regular expressions of what no tape may contain. weir writes `***` in its place, in requests and in answers. Credentials are masked without being listed. weir refuses an expression that can take exponential time, such as `(a+)+`.",
      }),
    },
    { ...CLOSED, description: "Tapes: recorded calls that are answered again." },
  ),
  {
    after: ["capture", "responses"],
    faults: (written) =>
      (["ignore", "mask"] as const).flatMap((name) => expressionFaults("tape", written, name)),
  },
);
