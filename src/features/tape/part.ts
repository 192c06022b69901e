/** The part of a gateway whose calls pass a tape: the commands bring it, because they know the file. */
import type { NamedPart, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { aroundTape, type CallTape } from "../../gateway/tape.ts";
import type { Costs } from "../../tapes/costs.ts";
import { tapeSection } from "./section.ts";

/** The parts of the gateway that a tape needs, and what its section says. */
export interface TapeTools extends Pick<WorkerHost, "hide" | "fault" | "ledger"> {
  /** Patterns of the operator: what no tape may contain. */
  readonly mask: readonly RegExp[];
  /** Patterns of the operator: what does not count when requests are compared. */
  readonly ignore: readonly RegExp[];
}

/** What a tape is around. */
export interface OpenTape extends Pick<Seams, "routes" | "aroundRoutes"> {
  readonly calls: CallTape;
  readonly costs?: Costs;
}

/** @param open is called once, with the config at the start: a reload does not change a tape @throws what `open` throws */
export function tapePart(open: (tools: TapeTools) => OpenTape): NamedPart<WorkerHost, WorkerPart> {
  const start = ({ hide, fault, ledger }: WorkerHost): WorkerPart => {
    let seams: Seams | undefined;
    let costs: Costs | undefined;
    const seamsFor = (config: object): Seams => {
      const { calls, costs: own, ...routes } = open({ hide, fault, ledger, ...patternsOf(config) });
      costs = own;
      return { around: { at: "tape", run: aroundTape(calls) }, ...routes };
    };
    return {
      seams: (config) => (seams ??= seamsFor(config)),
      recorder: () => costs?.record,
      stop: () => costs?.flush(),
    };
  };
  return { name: "tape", load: async () => ({ start }) };
}

function patternsOf(config: object): Pick<TapeTools, "mask" | "ignore"> {
  const { mask, ignore } = tapeSection.of(config);
  const compile = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, "g"));
  return { mask: compile(mask), ignore: compile(ignore) };
}
