/** Capture: bodies of calls, kept for a few days. */
import { expressionFaults } from "../../config/slow-expression.ts";
import { section } from "../../config/section.ts";
import { Type } from "@sinclair/typebox";
import { CLOSED } from "../../config/sections/kinds.ts";
import type { CaptureRules } from "./rules.ts";

export const captureSection = section(
  "capture",
  Type.Object(
    {
      keys: Type.Array(Type.String(), {
        default: [],
        examples: [["alice", "/eng/search"]],
        description: "Names of keys, or paths with all keys below them, whose calls are captured.",
      }),
      header: Type.Boolean({
        default: false,
        description: "Whether calls are captured whose client sends `x-weir-capture: yes`.",
      }),
      share: Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: "Share of all calls that is captured.",
      }),
      onDemand: Type.Boolean({
        default: true,
        description:
          "Whether admin keys may have a session, a key or a path captured for some hours, and watch the answers of running calls, without a change of the config.",
      }),
      errorsOnly: Type.Boolean({
        default: false,
        description:
          "Of these calls only those that did not end with a complete answer. What an operator asks for is kept as a whole.",
      }),
      mask: Type.Array(Type.String(), {
        default: [],
        examples: [["[\\w.]+@example\\.com"]],
        description:
          "Regular expressions of what weir replaces by `***` in captured bodies. Credentials are masked without being listed. weir refuses an expression that can take exponential time, such as `(a+)+`.",
      }),
      bytes: Type.Integer({
        minimum: 1_024,
        maximum: 16_777_216,
        default: 65_536,
        description: "How much of a request and of an answer is kept, in bytes.",
      }),
      days: Type.Integer({
        minimum: 1,
        maximum: 3_650,
        default: 3,
        description: "How long a captured call is kept, in days.",
      }),
      fileBytes: Type.Integer({
        minimum: 1_048_576,
        maximum: 9_007_199_254_740_991,
        default: 1_073_741_824,
        description: "Maximum size of all captured calls, in bytes. Beyond it weir deletes the oldest.",
      }),
    },
    {
      ...CLOSED,
      description:
        "Requests and answers that weir keeps, in the file capture.db of the state folder. Off unless `keys`, `header` or `share` is set, or an operator asks for some calls (`onDemand`). A client that sends `x-weir-capture: no` is never captured.",
    },
  ),
  { after: ["responses"], faults: (written) => expressionFaults("capture", written, "mask") },
);

/** Whether any call can be captured. */
export function capturesAny({ keys, header, share }: CaptureRules): boolean {
  return keys.length > 0 || header || share > 0;
}
