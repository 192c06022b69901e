/** The section of the configuration for repeats of requests whose connection broke. */
import { section } from "../../config/section.ts";
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, milliseconds } from "../../config/sections/kinds.ts";

export const paidOnceSection = section(
  "paidOnce",
  Type.Object(
    {
      enabled: Type.Boolean({
        default: false,
        description:
          "Whether a client whose connection broke gets the first answer when it repeats the request, and the provider is asked once. A call whose client left is then read on, and costs what the provider charges for that.",
      }),
      keepMs: milliseconds(
        120_000,
        "How long after its end an answer waits for the repeat of its request, in milliseconds.",
      ),
      readOnMs: milliseconds(
        30_000,
        "How long weir reads an answer that no client reads, in milliseconds. Then it stops the call.",
      ),
      maxBytes: Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: 8_388_608,
        description:
          "The longest answer that is kept, in bytes. A longer one is stopped when its client leaves, as it is without this option.",
      }),
      totalBytes: Type.Integer({
        minimum: 1024,
        maximum: 17_179_869_184,
        default: 67_108_864,
        description:
          "Memory for kept answers in each process, in bytes. The oldest that no client reads make room; an answer that finds none is not kept.",
      }),
    },
    { ...CLOSED, description: "Repeats of requests whose connection broke." },
  ),
  { after: ["cache", "capture", "responses"] },
);

export type PaidOnceConfig = Static<typeof paidOnceSection.schema>;
