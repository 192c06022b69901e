/** The options `tools.sampling`: servers ask weir's models. */
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../../../config/error.ts";
import { CLOSED } from "../../../config/sections/kinds.ts";

/** Every server may ask. */
const ALL = "*";

export const samplingOptions = Type.Object(
  {
    model: Type.String({
      examples: ["fast"],
      description: "Model that answers if the server hints at none that the caller may use.",
    }),
    allow: Type.Array(Type.String(), {
      default: [],
      examples: [["*"]],
      description: "Servers that may ask; `*`: all.",
    }),
    maxCalls: Type.Integer({
      ...{ minimum: 1, maximum: 1_000, default: 16 },
      description: "Most answers of models for one call of a tool.",
    }),
  },
  {
    ...CLOSED,
    description:
      "Models that answer servers which ask for one (`sampling/createMessage`) during the call of a tool. Absent: only clients answer.",
  },
);

export type SamplingOptions = Static<typeof samplingOptions>;

/** Most answers that a server may ask for in one call of a tool; 0: it may not ask. */
export function samplesOf(options: SamplingOptions | undefined, server: string): number {
  if (!options) return 0;
  const { allow, maxCalls } = options;
  return allow.includes(ALL) || allow.includes(server) ? maxCalls : 0;
}

/** @param servers names of the servers of the config */
export function samplingFaults(
  options: Partial<SamplingOptions> | undefined,
  servers: readonly string[],
): Fault[] {
  const { allow = [] } = options ?? {};
  return allow.flatMap((name, at) =>
    name === ALL || servers.includes(name)
      ? []
      : [{ path: ["tools", "sampling", "allow", at], clause: "is the name of no server" }],
  );
}
