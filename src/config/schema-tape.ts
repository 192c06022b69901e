/** Tapes: recorded calls. */
import { Type } from "@sinclair/typebox";
import { CLOSED } from "./schema-kinds.ts";

export const tapeSection = Type.Object(
  {
    mask: Type.Array(Type.String(), {
      default: [],
      examples: [["\\d{4}-\\d\\d-\\d\\d", "/tmp/[\\w-]+"]],
      description:
        "Regular expressions of what no tape may contain, or what differs with each run: dates, folders, names. weir writes `***` in its place, and ignores it when it compares requests. Credentials are masked without being listed.",
    }),
  },
  { ...CLOSED, description: "Tapes of `weir record` and `weir replay`." },
);
