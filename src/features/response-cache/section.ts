/** The options of the cache of answers. */
import { section } from "../../config/section.ts";
import { Type } from "@sinclair/typebox";
import { CLOSED, milliseconds } from "../../config/sections/kinds.ts";

export const cacheSection = section(
  "cache",
  Type.Object(
    {
      keys: Type.Array(Type.String(), {
        default: [],
        examples: [["ci", "eval-*"]],
        description:
          "Names of the gateway keys whose calls may be answered from the cache; `*` stands for any text, and alone for all calls. Empty: there is no cache.",
      }),
      header: Type.Boolean({
        default: true,
        description:
          "Whether a call must ask for the cache with the header `x-weir-cache: use`. `false`: all calls of these keys use it, unless they say `no`.",
      }),
      tools: Type.Array(Type.String(), {
        default: [],
        examples: [["get_weather", "search_*"]],
        description:
          "Names of tools without side effects. A request with any other tool, or with one that the provider runs, is not cached.",
      }),
      maxTemperature: Type.Unsafe<number | "any">(
        Type.Union([Type.Number({ minimum: 0, maximum: 2 }), Type.Literal("any")], {
          default: 0,
          "x-expects": "a number from 0 to 2, or any",
          description:
            "A request with a higher temperature, or without one, is not cached: a client that samples expects another answer each time. `any`: every request.",
        }),
      ),
      ttlMs: milliseconds(3_600_000, "How long an answer is kept, in milliseconds."),
      bytes: Type.Integer({
        minimum: 65_536,
        maximum: 17_179_869_184,
        default: 67_108_864,
        description:
          "Memory for answers in each process, in bytes. Those that were used least recently make room; one answer takes at most a sixteenth.",
      }),
    },
    { ...CLOSED, description: "Answers from memory for requests of the same meaning." },
  ),
  { after: ["capture", "responses"] },
);
