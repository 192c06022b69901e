/** The part of a gateway whose calls pass a tape: the commands bring it, because they know the file. */
import type { NamedPart, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { aroundTape, type CallTape } from "../../gateway/tape.ts";
import { tapeSection } from "./section.ts";

/** The parts of the gateway that a tape needs, and what its section says. */
export interface TapeTools extends Pick<WorkerHost, "hide" | "fault"> {
  /** Patterns of the operator: what no tape may contain. */
  readonly mask: readonly RegExp[];
  /** Patterns of the operator: what does not count when requests are compared. */
  readonly ignore: readonly RegExp[];
}

/** @param open is called once, with the config at the start: a reload does not change a tape @throws what `open` throws */
export function tapePart(open: (tools: TapeTools) => CallTape): NamedPart<WorkerHost, WorkerPart> {
  const start = ({ hide, fault }: WorkerHost): WorkerPart => {
    let seams: Seams | undefined;
    return {
      seams: (config) =>
        (seams ??= {
          around: { at: "tape", run: aroundTape(open({ hide, fault, ...patternsOf(config) })) },
        }),
    };
  };
  return { name: "tape", load: async () => ({ start }) };
}

function patternsOf(config: object): Pick<TapeTools, "mask" | "ignore"> {
  const { mask, ignore } = tapeSection.of(config);
  const compile = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, "g"));
  return { mask: compile(mask), ignore: compile(ignore) };
}
